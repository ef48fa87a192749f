"""The stage: the modules that draw it in a browser, what they are sent, and the file as which it leaves the app.

`payload/` makes the message (message.py first). JavaScript stands by what it draws: `main/` starts (stage.js) and holds
the state, `frame/` has the parts around, `tiles/`, `lines/` and `map/` draw heads, tokens and the large map, `changes/`
what a visitor changes.

`from viz import stage; stage(result)` shows a result in a notebook: the module's class has `__call__`.
"""

import sys
from types import ModuleType
from typing import Any


class _Stage(ModuleType):
    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """See `viz.stage.alone.stage`."""
        from viz.stage.alone import stage

        return stage(*arguments, **keywords)


sys.modules[__name__].__class__ = _Stage
