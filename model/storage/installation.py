"""Where everything but the packages lies: checkpoints, the app's entry, what configures Streamlit and the proxy."""

import site
import sysconfig
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
SHARE = Path("share", "headlight")  # where `pip install` puts them, under the prefix of the environment


def root() -> Path:
    """The folder with app.py, .streamlit, Caddyfile and checkpoints/: the checkout, or that of an installation."""
    prefixes = (Path(sysconfig.get_path("data")), Path(site.getuserbase()))
    installed = [folder for prefix in prefixes if (folder := prefix / SHARE).is_dir()]
    if (CHECKOUT / "app.py").is_file() or not installed:
        return CHECKOUT
    return installed[0]
