"""Languages by the two letters that the rest of the package uses."""

from __future__ import annotations

#: ISO 639-2 and 639-3 codes of languages that conversations are published in, and their names in CHAT's older files.
_THREE = {
    "eng": "en", "fra": "fr", "fre": "fr", "deu": "de", "ger": "de", "nld": "nl", "dut": "nl", "spa": "es", "jpn": "ja",
    "zho": "zh", "chi": "zh", "cmn": "zh", "yue": "zh", "ara": "ar", "heb": "he", "ita": "it", "por": "pt", "rus": "ru",
    "kor": "ko", "pol": "pl", "tur": "tr", "swe": "sv", "dan": "da", "nor": "no", "nob": "no", "fin": "fi", "est": "et",
    "hun": "hu", "ces": "cs", "cze": "cs", "ell": "el", "gre": "el", "cat": "ca", "eus": "eu", "hrv": "hr", "fas": "fa",
    "hin": "hi", "tha": "th", "vie": "vi", "ind": "id", "isl": "is", "slv": "sl", "ron": "ro", "ukr": "uk",
}  # fmt: skip


def two_letters(code: str) -> str:
    """Return the two letters of a language's code (``fra``, ``fr-CA``, ``en``), "" where they are not known."""
    head = code.strip().lower().replace("_", "-").partition("-")[0]
    if len(head) == 2 and head.isalpha():
        return head
    return _THREE.get(head, "")
