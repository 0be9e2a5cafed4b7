"""The weather tool: sample data for work without a network, or live weather from Open-Meteo."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

from react_lab.errors import ToolError
from react_lab.language import Language, language_of
from react_lab.tools.base import FunctionTool, tool
from react_lab.tools.cities import find
from react_lab.tools.open_meteo import MAX_DAYS, OpenMeteo, Units
from react_lab.tools.web import Unreachable

OFFLINE: Mapping[Language, str] = {
    "en": "(Open-Meteo can't be reached, so these are made-up data for lessons. Say so, and don't give them as today's "
    "weather.)",
    "zh": "（连不上 Open-Meteo，以上是课程用的示例数据。请说明这一点，不要当作今天的天气。）",
}


@tool(
    zh="""查询一个大城市的示例天气：气温（°C）、天空状况、湿度和风。这些数据是为课程编写的，从不变化，既不是实况，也不是预报。
    一次只问一个城市。

    Args:
        city: 城市的中文或英文名，如 "北京" 或 "Paris"；后面可以加上国家，如 "巴黎，法国"。
    """
)
def weather(city: str) -> str:
    """Get sample weather data for a big city: temperature in °C, sky, humidity and wind.

    The data are made up for lessons and never change; they are no live reading and no forecast. Ask about one
    city at a time.

    Args:
        city: The city's name in English or Chinese, such as "Paris" or "北京"; its country may follow, as in
            "Paris, France".
    """
    return find(city).report(language_of(city))


def make_weather(*, live: bool = False, service: OpenMeteo | None = None) -> FunctionTool:
    """The weather tool: on sample data, or live.

    Args:
        service: In the place of the real one, for `live`.
    """
    return weather_from(service or OpenMeteo()) if live else weather


def weather_from(service: OpenMeteo) -> FunctionTool:
    @tool(
        zh="""查询一个地方现在的天气，需要时还有预报：气温、天空状况、湿度、降雨和风。用于今天和今后两周的天气；不用于气候，
        也不用于过去的日子。一次只问一个地方。

        Args:
            city: 中文或英文的地名，如 "苏州，中国" 或 "Springfield, Illinois"。结果会说明查的是哪里，
                还有哪些同名的地方。
            days: 需要几天的预报，今天也算，1 到 14，如 3；不填则只有现在的天气。
            units: "metric"（°C、km/h），这是默认值；或 "imperial"（°F、mph）。
        """
    )
    def weather(city: str, days: int | None = None, units: Literal["metric", "imperial"] | None = None) -> str:
        """Get the weather of a place right now and, if wanted, its forecast: temperature, sky, humidity, rain and wind.

        For the weather of today and of the next two weeks; not for the climate, and not for past days. Ask about one
        place at a time.

        Args:
            city: Its name in English or Chinese, such as "Paris", "Springfield, Illinois" or "苏州，中国". The result
                tells which place was taken, and which others of that name there are.
            days: For how many days a forecast is wanted, today included, from 1 to 14, such as 3; without it there is
                only the current weather.
            units: "metric" (°C, km/h), which is the default, or "imperial" (°F, mph).
        """
        return observe(service, city, days, units or "metric")

    return weather


def observe(service: OpenMeteo, city: str, days: int | None, units: Units) -> str:
    """What a model reads of live weather; without a connection, the sample, and that it is one."""
    if not city.strip():
        raise ValueError('the city is empty: give its name, such as "Paris, France"')
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise ValueError(f"days {days} is out of range: give a number from 1 to {MAX_DAYS}")
    try:
        return service.report(city, days=int(days or 0), units=units)
    except Unreachable:
        with suppress(ToolError):
            return f"{find(city).report(language_of(city))}\n{OFFLINE[language_of(city)]}"
        raise
