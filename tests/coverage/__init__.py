"""Coverage: run torch's own test databases on a device, compare with CPU torch, and commit the results."""

if __name__ != "tenax.coverage":
    raise ImportError(
        f"{__name__}: this folder is the package `tenax.coverage`; install tenax and import it by that name"
    )
