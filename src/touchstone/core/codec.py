"""Values <-> plain dicts, canonical JSON and content hashes: the contracts people script against."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from touchstone.core.case import CASE_FIELDS, Case, Label, wrong_type
from touchstone.core.errors import CaseError
from touchstone.core.plan import Plan
from touchstone.core.result import (
    Anchor,
    Chances,
    Dismissed,
    Evidence,
    Failure,
    Finding,
    Grade,
    Grading,
    Result,
    Score,
    Statement,
    Verification,
    Waived,
)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spare space: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def content_hash(value: Any) -> str:
    """A short stable name for a plain value."""
    return hashlib.sha256(canonical_json(value).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def case_from_dict(row: Mapping[str, Any]) -> Case:
    """A row with the contract's field names -> Case; every other column becomes metadata."""
    if "response" not in row or row["response"] is None:
        raise CaseError("field 'response' is missing: give the reply that is to be judged")
    return Case(
        id=row.get("id"),
        input="" if row.get("input") is None else row["input"],
        response=row["response"],
        context=row.get("context"),
        expected_output=row.get("expected_output"),
        category=row.get("category"),
        confidence=row.get("confidence"),
        labels=_labels(row.get("labels")),
        metadata={name: value for name, value in row.items() if name not in CASE_FIELDS},
    )


def case_to_dict(case: Case) -> dict[str, Any]:
    """Case -> the row it is written as; what was not given is left out."""
    turns = case.input if isinstance(case.input, str) else [{"role": t.role, "content": t.content} for t in case.input]
    row: dict[str, Any] = {"id": case.id, "input": turns, "response": case.response}
    if case.context is not None:
        row["context"] = [p.text if p.id is None else {"id": p.id, "text": p.text} for p in case.context]
    row |= {"expected_output": case.expected_output, "category": case.category, "confidence": case.confidence}
    if case.labels:
        row["labels"] = [_label_to_dict(label) for label in case.labels]
    return {name: value for name, value in row.items() if value is not None} | dict(case.metadata)


def case_hash(case: Case) -> str:
    """The id of a case that was given none."""
    return content_hash({k: v for k, v in case_to_dict(case).items() if k in CASE_FIELDS and k != "id"})


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """Plan -> its settings."""
    return asdict(plan)


def result_to_dict(result: Result) -> dict[str, Any]:
    """Result -> the contract's JSON object."""
    row: dict[str, Any] = {"id": result.id}
    if result.line is not None:
        row["line"] = result.line
    metrics = result.metrics
    row |= {
        "decision": result.decision,
        "verdict": result.verdict,
        "reasons": list(result.reasons),
        "metrics": None if metrics is None else {name: _score_to_dict(score) for name, score in metrics.items()},
        "rubric": None if result.rubric is None else _grading_to_dict(result.rubric),
        "failures": [{"stage": f.stage, "error": f.error, "message": f.message} for f in result.failures],
    }
    return row if result.verifier is None else {**row, "verifier": _verification_to_dict(result.verifier)}


def result_from_dict(row: Mapping[str, Any]) -> Result:
    """The contract's JSON object -> Result."""
    metrics = row["metrics"]
    return Result(
        id=row["id"],
        line=row.get("line"),
        decision=row["decision"],
        verdict=row["verdict"],
        reasons=tuple(row["reasons"]),
        metrics=None if metrics is None else {name: _score_from_dict(name, part) for name, part in metrics.items()},
        rubric=_grading_from_dict(row["rubric"]) if row.get("rubric") else None,
        failures=tuple(Failure(**failure) for failure in row["failures"]),
        verifier=_verification_from_dict(row["verifier"]) if row.get("verifier") else None,
    )


def _score_to_dict(score: Score) -> dict[str, Any]:
    row = {"score": score.score, **score.parts, "flag": score.flag, "reason": score.reason}
    if score.anchors is not None:
        row["anchors"] = [_anchor_to_dict(anchor) for anchor in score.anchors]
    return row


def _score_from_dict(metric: str, row: Mapping[str, Any]) -> Score:
    parts = {name: value for name, value in row.items() if name not in ("score", "flag", "reason", "anchors")}
    anchors = tuple(map(_anchor_from_dict, row["anchors"])) if "anchors" in row else None
    return Score(metric, row["score"], row["reason"], parts=parts, flag=row["flag"], anchors=anchors)


def _anchor_to_dict(anchor: Anchor) -> dict[str, Any]:
    return {
        "kind": anchor.kind,
        "text": anchor.text,
        "start": anchor.start,
        "end": anchor.end,
        "value": anchor.value,
        "status": anchor.status,
        "reason": anchor.reason,
        "evidence": _evidence_to_dicts(anchor.evidence),
    }


def _anchor_from_dict(row: Mapping[str, Any]) -> Anchor:
    return Anchor(**{**row, "evidence": _evidence_from_dicts(row["evidence"])})


def _grading_to_dict(grading: Grading) -> dict[str, Any]:
    return {
        "name": grading.rubric,
        "version": grading.version,
        "judge": grading.judge,
        "criteria": {
            g.criterion: {
                "grade": g.grade,
                "value": g.value,
                "points": g.points,
                "confidence": g.confidence,
                "reason": g.reason,
            }
            for g in grading.grades
        },
        "violations": [_finding_to_dict(violation) for violation in grading.violations],
        "suspicions": [_finding_to_dict(suspicion) for suspicion in grading.suspicions],
        "issues": list(grading.issues),
        "total": grading.total,
        "outcome": grading.outcome,
        "pass_probability": grading.pass_probability,
        "reasons": list(grading.reasons),
        **({} if grading.flip_rate is None else {"flip_rate": grading.flip_rate}),
        **({"waived": waived_to_dicts(grading.waived)} if grading.waived else {}),
        **({"dismissed": [_dismissed_to_dict(each) for each in grading.dismissed]} if grading.dismissed else {}),
    }


def _grading_from_dict(row: Mapping[str, Any]) -> Grading:
    return Grading(
        rubric=row["name"],
        version=row["version"],
        judge=row["judge"],
        grades=tuple(Grade(criterion, **grade) for criterion, grade in row["criteria"].items()),
        violations=tuple(map(_finding_from_dict, row["violations"])),
        suspicions=tuple(map(_finding_from_dict, row.get("suspicions", ()))),
        issues=tuple(row["issues"]),
        total=row["total"],
        outcome=row["outcome"],
        pass_probability=row.get("pass_probability"),
        reasons=tuple(row["reasons"]),
        flip_rate=row.get("flip_rate"),
        waived=waived_from_dicts(row.get("waived", ())),
        dismissed=tuple(map(_dismissed_from_dict, row.get("dismissed") or ())),
    )


def waived_to_dicts(waived: Iterable[Waived]) -> list[dict[str, Any]]:
    """Waived violations -> plain dicts, each with who waived it, when and why."""
    return [
        {"violation": _finding_to_dict(w.violation), "by": w.by, "made": w.made, "reason": w.reason} for w in waived
    ]


def waived_from_dicts(rows: Iterable[Mapping[str, Any]]) -> tuple[Waived, ...]:
    """What `waived_to_dicts` wrote -> the same values."""
    return tuple(Waived(**{**row, "violation": _finding_from_dict(row["violation"])}) for row in rows)


def _dismissed_to_dict(dismissed: Dismissed) -> dict[str, Any]:
    return {"finding": _finding_to_dict(dismissed.finding), "reason": dismissed.reason, "quote": dismissed.quote}


def _dismissed_from_dict(row: Mapping[str, Any]) -> Dismissed:
    return Dismissed(**{**row, "finding": _finding_from_dict(row["finding"])})


def _finding_to_dict(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "rule": finding.rule,
        "text": finding.text,
        "start": finding.start,
        "end": finding.end,
        "reason": finding.reason,
        "evidence": _evidence_to_dicts(finding.evidence),
        "confidence": finding.confidence,
    }


def _finding_from_dict(row: Mapping[str, Any]) -> Finding:
    """A finding; one of the earlier contract has neither rule nor confidence."""
    return Finding(**{**row, "evidence": _evidence_from_dicts(row["evidence"])})


def _verification_to_dict(verification: Verification) -> dict[str, Any]:
    return {
        "name": verification.name,
        "version": verification.version,
        "hash": verification.hash,
        "spared": verification.spared,
        "unread": verification.unread,
        "sentences": [_statement_to_dict(statement) for statement in verification.statements],
    }


def _verification_from_dict(row: Mapping[str, Any]) -> Verification:
    """The verifier's block; one of the earlier contract also has a `cut`, which says nothing about its sentences."""
    return Verification(
        name=row["name"],
        version=row["version"],
        hash=row["hash"],
        statements=tuple(map(_statement_from_dict, row["sentences"])),
        unread=row["unread"],
    )


def _statement_to_dict(statement: Statement) -> dict[str, Any]:
    return {
        "text": statement.text,
        "start": statement.start,
        "end": statement.end,
        "status": statement.status,
        "probability": statement.probability,
        "by": statement.by,
        "reason": statement.reason,
        "chances": None if statement.chances is None else statement.chances._asdict(),
        "evidence": _evidence_to_dicts(statement.evidence),
    }


def _statement_from_dict(row: Mapping[str, Any]) -> Statement:
    fields = {name: value for name, value in row.items() if name != "probability"}
    chances = None if row["chances"] is None else Chances(**row["chances"])
    return Statement(**{**fields, "chances": chances, "evidence": _evidence_from_dicts(row["evidence"])})


def _evidence_to_dicts(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [_evidence_to_dict(each) for each in evidence]


def _evidence_to_dict(evidence: Evidence) -> dict[str, Any]:
    span = {"start": evidence.start, "end": evidence.end}
    return {"source": evidence.source, **span, "text": evidence.text, "path": evidence.path}


def _evidence_from_dicts(rows: Iterable[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(Evidence(**row) for row in rows)


def _label_to_dict(label: Label) -> dict[str, Any]:
    row = {"rater": label.rater, **label.grades, "violations": list(label.violations)}
    return row | ({"reason": label.reason} if label.reason else {})


def _labels(value: Any) -> Iterable[Label]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise wrong_type("labels", value, "a list of objects {rater, accuracy, …}")
    return [_label(label, at) for at, label in enumerate(value)]


def _label(label: Any, at: int) -> Label:
    if not isinstance(label, Mapping):
        raise wrong_type(f"labels[{at}]", label, "an object {rater, accuracy, …}")
    violations = label.get("violations") or []
    if not isinstance(violations, list) or not all(isinstance(kind, str) for kind in violations):
        raise wrong_type(f"labels[{at}].violations", violations, "a list of strings")
    named = {k: v for k, v in label.items() if k not in ("rater", "violations", "reason")}
    return Label(
        rater=str(label.get("rater") or at),
        grades={criterion: _grade(grade, f"labels[{at}].{criterion}") for criterion, grade in named.items()},
        violations=tuple(violations),
        reason=_reason(label.get("reason"), f"labels[{at}].reason"),
    )


def _reason(reason: Any, field: str) -> str:
    if reason is not None and not isinstance(reason, str):
        raise wrong_type(field, reason, "a string")
    return reason or ""


def _grade(grade: Any, field: str) -> int | None:
    if grade is None:
        return None
    if (
        isinstance(grade, bool)
        or not isinstance(grade, int | float)
        or (isinstance(grade, float) and not grade.is_integer())
    ):
        raise wrong_type(field, grade, "a whole number or null")
    return int(grade)
