"""Touchstone: are the replies your AI drafts good enough to send?

>>> import touchstone as ts
>>> result = ts.score(ts.Case(input="When is it due?", response="By 3 May.", context=["Due on 3 May."]))
>>> result.verdict
'PASS'
"""
