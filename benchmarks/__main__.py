"""`python -m benchmarks [NAME …]`: run the named benchmarks, or all, and write benchmarks/results/NAME.json."""

import argparse
from importlib import import_module

# What each command measures; the module of that name has `run()`.
BENCHMARKS = {
    "values": "agreement with the tables of values and dates",
    "conversations": "figures of replies to chats with lookups, tables and policies, against what readers say of them",
    "speed": "time per reply beside the parser alone and the straightforward version, and its growth with length",
    "quality": "AUC of the hallucination score and its parts on public sets, beside naive baselines",
    "recorded": "recorded answers of a model: agreement with people, alone and behind the offline judge, and tokens",
    "judge": "what the offline judge decides and how often that is right, and the laws it keeps",
    "evaluation": "a gold-set run end to end beside bare scoring, its report, and figures over 100,000 replies",
    "pii": "personal data recognised, and the time it takes, beside Presidio with the same parser",
}
# Run when named; the tables also after every benchmark.
ON_REQUEST = {
    "engines": "the rate of each engine, memory as a job grows, a long job killed and gone on with; has options",
    "plain": "the models for plain questions on public sets: AUC and rank correlation, sources left out in turn",
    "parts": "what each part of scoring costs in a job, beside another state of the code; has options",
    "serve": "the service under load: throughput, latency, what HTTP adds to scoring in process, overload",
    "pages": "pages of a store of a million results beside those of a thousand: time, and the plans of the queries",
    "errors": "print fifty errors a public set, half missed and half false alarms, for reading",
    "llm": "a small real model as the judge: agreement with people, and what replies can talk it into",
    "tables": "write the tables of docs/benchmarks.md from the results",
}

WITH_OPTIONS = ("engines", "parts")


def main() -> None:
    """Run what was asked for, in the order above."""
    lines = [f"{name:12}{what}" for name, what in (BENCHMARKS | ON_REQUEST).items()]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="\n".join(lines),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="one or more of the list below; all figures if none")
    given, options = parser.parse_known_args()
    named = given.names
    if options and not (len(named) == 1 and named[0] in WITH_OPTIONS):
        parser.error(f"{options[0]} is an option of {' or '.join(WITH_OPTIONS)} alone: name one of them")
    unknown = [name for name in named if name not in BENCHMARKS | ON_REQUEST]
    if unknown:
        parser.error(f"there is no benchmark '{unknown[0]}'; choose from {', '.join(BENCHMARKS | ON_REQUEST)}")
    for name in BENCHMARKS | ON_REQUEST:
        if name in named or (not named and name in BENCHMARKS):
            print(f"== {name}: {(BENCHMARKS | ON_REQUEST)[name]}", flush=True)
            module = import_module(f"benchmarks.{name}")
            module.run(options) if name in WITH_OPTIONS else module.run()
    if not named or {*BENCHMARKS, *WITH_OPTIONS} & set(named):
        import_module("benchmarks.tables").run()


if __name__ == "__main__":
    main()
