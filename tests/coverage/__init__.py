"""Coverage: torch's own test databases run on a device, against CPU torch, with committed results."""

if __name__ != "tenax.coverage":
    raise ImportError(
        f"{__name__}: this folder is the package `tenax.coverage`; install tenax and import it by that name"
    )
