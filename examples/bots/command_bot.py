"""A bot as a command: reads one case as JSON on stdin, writes its reply as JSON on stdout.

It looks up the passage of the context that shares most words with the question, and says so. Standard library only.

    touchstone eval goldset.jsonl --bot 'python examples/bots/command_bot.py'
"""

import json
import re
import sys


def main():
    json.dump(draft(json.load(sys.stdin)), sys.stdout)


def draft(case):
    """The answer to a case: the best passage as the reply, and the share of the question it covers as confidence."""
    asked = words(question(case["input"]))
    passages = [passage if isinstance(passage, str) else passage["text"] for passage in case.get("context") or []]
    best = max(passages, key=lambda passage: len(asked & words(passage)), default=None)
    if best is None or not asked & words(best):
        return {"response": "I could not find that out. I am passing your message on to a colleague.", "confidence": 0}
    share = len(asked & words(best)) / len(asked)
    return {"response": f"Thank you for your message. {best}", "confidence": round(share, 2)}


def question(input):
    """The customer's message; of a chat, what was said last by anyone but the assistant."""
    if isinstance(input, str):
        return input
    return next((turn["content"] for turn in reversed(input) if turn["role"] != "assistant"), "")


def words(text):
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


if __name__ == "__main__":
    main()
