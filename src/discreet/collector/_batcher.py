"""Uploads that come at the same time go into the store with one transaction, and each has its own outcome.

While one transaction is being forced to the disk, the next uploads gather; so the more come, the more go together, and
one alone does not wait. An upload is answered after its transaction, and never before. What the store does after each
transaction keeps the next one waiting, but not the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._reasons import Reason, RefusedRequest
from ._uploads import Upload

MOST_TOGETHER = 20_000  # reports of one transaction
MOST_WAITING = 1_000_000  # reports that wait, over twice as many as one batch has; more are sent away, to come again


@dataclass(frozen=True, eq=False)
class _Waiting:
    study: str
    upload: Upload
    outcome: asyncio.Future[NDArray[np.uint8]]


class Batcher:
    """Gathers uploads, and hands them on together.

    Parameters
    ----------
    take
        Counts the reports of one upload to a study, in a thread, and returns a code for each.
    after
        Called in that thread after each of them.
    """

    def __init__(
        self, take: Callable[[str, Upload], NDArray[np.uint8]], after: Callable[[], object] = lambda: None
    ) -> None:
        self._take, self._after = take, after
        self._waiting: list[_Waiting] = []
        self._reports = 0
        self._running: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")

    async def put(self, study: str, upload: Upload) -> NDArray[np.uint8]:
        """Return the codes of an upload, once it is stored."""
        if self._reports + len(upload) > MOST_WAITING:
            raise RefusedRequest(Reason.BUSY)
        loop = asyncio.get_running_loop()
        one = _Waiting(study, upload, loop.create_future())
        self._waiting.append(one)
        self._reports += len(upload)
        if self._running is None:
            self._running = loop.create_task(self._run())
        return await one.outcome

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                await self._store_some()
                with suppress(Exception):  # whatever goes wrong here, others wait to be stored
                    await loop.run_in_executor(self._thread, self._after)
        finally:
            self._running = None

    async def _store_some(self) -> None:
        """Store those that go together, and set their outcomes; nothing of them is held afterwards."""
        some = self._together()
        try:
            joined = joined_upload([one.upload for one in some])
            codes = await asyncio.get_running_loop().run_in_executor(self._thread, self._take, some[0].study, joined)
        except Exception as error:
            for one in some:
                if not one.outcome.done():
                    one.outcome.set_exception(error)
        else:
            ends = np.cumsum([len(one.upload) for one in some])
            for one, part in zip(some, np.split(codes, ends[:-1]), strict=True):
                if not one.outcome.done():  # whoever waited may have gone
                    one.outcome.set_result(part)
        finally:
            self._reports -= sum(len(one.upload) for one in some)

    def _together(self) -> list[_Waiting]:
        """Take the first that waits, and all others to the same round as far as they go together."""
        first = self._waiting[0]
        some: list[_Waiting] = []
        left: list[_Waiting] = []
        many = 0
        for one in self._waiting:
            same = one.study == first.study and one.upload.round == first.upload.round
            if same and (not some or many + len(one.upload) <= MOST_TOGETHER):
                some.append(one)
                many += len(one.upload)
            else:
                left.append(one)
        self._waiting = left
        return some

    def close(self) -> None:
        """Wait for what is being stored."""
        self._thread.shutdown()


def joined_upload(uploads: list[Upload]) -> Upload:
    """Return several uploads to one round as one."""
    if len(uploads) == 1:
        return uploads[0]
    return Upload(
        round=uploads[0].round,
        tokens=[token for one in uploads for token in one.tokens],
        keys=[key for one in uploads for key in one.keys],
        words=np.concatenate([one.words for one in uploads]),
        codes=np.concatenate([one.codes for one in uploads]),
    )
