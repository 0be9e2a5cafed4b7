"""The error tree, and the one place that says who sees which failure.

Every failure has one of three addressees:

- the model made a mistake (unknown tool, bad arguments, a tool that raised, a reply that can't be read):
  nothing is raised; the model gets an error result or a reminder and can try again;
- the caller made a mistake (duplicate tool, unknown model name, missing key): `TypeError`, `ValueError`,
  `KeyError` or `ConfigurationError` at once, naming the value and the fix;
- the outside world failed (provider or network down): `ModelError`, raised from its cause. The trace is
  already recorded by then, and `Agent.resume` goes on from it.

Running out of steps, a refusal or a reply that was cut off is an outcome (`Trace.outcome`), not an error.
"""


class ReactLabError(Exception):
    """Root of every error that react-lab defines."""


class ConfigurationError(ReactLabError, ValueError):
    """Something has to be set, installed or spelled differently before a run can start."""


class ToolError(ReactLabError):
    """Raised inside a tool: its text is written for the model, which reads it as the observation."""


class TemporaryToolError(ToolError):
    """A failure that may be over soon, such as too many requests: `with_retry` tries the call again.

    `retry_after_s` is how long the service asks to wait; None where it does not say.
    """

    def __init__(self, text: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class ModelError(ReactLabError):
    """The model could not be asked: network, provider, or a script that ran out.

    `temporary` tells whether the same request may succeed later, `status` is the answer's HTTP status (None: there was
    no answer), `retry_after_s` how long the provider asks to wait (None: it does not say).
    """

    def __init__(
        self, text: str, *, temporary: bool = False, status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(text)
        self.temporary = temporary
        self.status = status
        self.retry_after_s = retry_after_s
