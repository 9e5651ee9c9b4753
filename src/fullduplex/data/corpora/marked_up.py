"""XML that others wrote: read whole, without entities of its own, which could be without end."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from fullduplex.errors import InputError


def read_xml(path: Path) -> ElementTree.Element:
    """Return the root of an XML file; raises :class:`InputError` where it is none, or declares entities.

    Its encoding is the one that it declares. A document type is allowed and not fetched.
    """
    try:
        if path.is_fifo():
            raise InputError(path, found="a pipe", expected="a file")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a file that can be read") from error
    if b"<!ENTITY" in data or "<!ENTITY".encode("utf-16-le") in data or "<!ENTITY".encode("utf-16-be") in data:
        raise InputError(path, found="an entity of its own", expected="XML without entities")
    try:
        return ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise InputError(path, found=f"no whole XML ({error})", expected="an XML file") from error
    except RecursionError as error:
        raise InputError(path, found="elements nested without end", expected="an XML file") from error
