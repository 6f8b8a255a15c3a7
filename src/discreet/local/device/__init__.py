"""What runs on a device, from a question to the bytes it sends. Standard library only, and a test watches that.

`client` is the one function: it takes a question and what the device holds. `trust` refuses questions that are
malformed, too large (`limits`) or that would give away more than the device allows; the privacy loss is computed anew,
exactly, on the device (`loss`). `answering` turns what is held into an answer, and `draws` randomises it. `choosing`
draws the basket that answers, where there are several. Other languages port these files; `docs/wire.md` says the same
in words, and golden vectors hold both to it.
"""
