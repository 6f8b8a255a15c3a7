from ._entries import (
    Category as Category,
    Entry as Entry,
    Listing as Listing,
    described as described,
    entry as entry,
    everything as everything,
    mechanism as mechanism,
    mechanisms as mechanisms,
    oracles as oracles,
    protocol as protocol,
    protocols as protocols,
    proven as proven,
)
from ._plugins import Unfit as Unfit, blamed as blamed, load as load, package_of as package_of, points as points
from ._settings import settle as settle
