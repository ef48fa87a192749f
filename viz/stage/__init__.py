"""The stage: what it is told (message.py first), the JavaScript that draws it (stage.js), and the file it leaves as.

`from viz import stage; stage(result)` shows a result in a notebook: the module's class has `__call__`.
"""

import sys
from types import ModuleType
from typing import Any


class _Stage(ModuleType):
    def __call__(self, *given: Any, **named: Any) -> Any:
        """See `viz.stage.alone.stage`."""
        from viz.stage.alone import stage

        return stage(*given, **named)


sys.modules[__name__].__class__ = _Stage
