"""A queue that joins simultaneous uploads into one transaction; each upload has its own outcome.

While one transaction is forced to the disk, the next uploads gather; so the more uploads come, the more share one
transaction, and a single upload does not wait. An upload is answered after its transaction, and never before. The
clean-up of the store after each transaction delays the next transaction, but not the answers.
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

MAX_JOINED_REPORTS = 20_000  # of one transaction; larger: answers come later; smaller: more flushes to the disk
MAX_WAITING_REPORTS = 1_000_000  # twice the longest batch and more; further uploads are refused as busy


@dataclass(frozen=True, eq=False)
class _WaitingUpload:
    study: str
    upload: Upload
    outcome: asyncio.Future[NDArray[np.uint8]]


class Batcher:
    """A queue of uploads, which joins them for the store.

    Parameters
    ----------
    take
        A function that counts the reports of an upload to a study, in a thread, and returns one code per report.
    after
        A function that is called in that thread after each call of `take`.
    """

    def __init__(
        self, take: Callable[[str, Upload], NDArray[np.uint8]], after: Callable[[], object] = lambda: None
    ) -> None:
        self._take, self._after = take, after
        self._waiting: list[_WaitingUpload] = []
        self._report_count = 0
        self._running: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store")

    async def add(self, study: str, upload: Upload) -> NDArray[np.uint8]:
        """Return the codes of an upload, after it is stored."""
        if self._report_count + len(upload) > MAX_WAITING_REPORTS:
            raise RefusedRequest(Reason.BUSY)
        loop = asyncio.get_running_loop()
        waiting = _WaitingUpload(study, upload, loop.create_future())
        self._waiting.append(waiting)
        self._report_count += len(upload)
        # One task at a time: uploads that arrive during its transaction form the next group.
        if self._running is None:
            self._running = loop.create_task(self._run())
        return await waiting.outcome

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                await self._store_group()
                with suppress(Exception):  # a failed clean-up must not stop the next uploads
                    await loop.run_in_executor(self._thread, self._after)
        finally:
            self._running = None

    async def _store_group(self) -> None:
        """Store uploads that share a transaction, and set their outcomes; no reference to them remains."""
        group = self._take_group()
        try:
            joined_upload = join_uploads([waiting.upload for waiting in group])
            codes = await asyncio.get_running_loop().run_in_executor(
                self._thread, self._take, group[0].study, joined_upload
            )
        except Exception as error:
            for waiting in group:
                if not waiting.outcome.done():
                    waiting.outcome.set_exception(error)
        else:
            ends = np.cumsum([len(waiting.upload) for waiting in group])
            for waiting, part in zip(group, np.split(codes, ends[:-1]), strict=True):
                if not waiting.outcome.done():  # a client that left has cancelled its outcome
                    waiting.outcome.set_result(part)
        finally:
            self._report_count -= sum(len(waiting.upload) for waiting in group)

    def _take_group(self) -> list[_WaitingUpload]:
        """Remove the oldest upload from the queue, with further uploads to its round up to the limit."""
        oldest = self._waiting[0]
        group: list[_WaitingUpload] = []
        remaining: list[_WaitingUpload] = []
        report_count = 0
        for waiting in self._waiting:
            is_same_round = waiting.study == oldest.study and waiting.upload.round == oldest.upload.round
            if is_same_round and (not group or report_count + len(waiting.upload) <= MAX_JOINED_REPORTS):
                group.append(waiting)
                report_count += len(waiting.upload)
            else:
                remaining.append(waiting)
        self._waiting = remaining
        return group

    def close(self) -> None:
        """Wait for the end of the current transaction, and stop the thread."""
        self._thread.shutdown()


def join_uploads(uploads: list[Upload]) -> Upload:
    """Return several uploads to one round as one upload."""
    if len(uploads) == 1:
        return uploads[0]
    return Upload(
        round=uploads[0].round,
        tokens=[token for upload in uploads for token in upload.tokens],
        keys=[key for upload in uploads for key in upload.keys],
        words=np.concatenate([upload.words for upload in uploads]),
        codes=np.concatenate([upload.codes for upload in uploads]),
    )
