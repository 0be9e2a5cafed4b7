"""Live weather from Open-Meteo (no key; non-commercial use; data under CC BY 4.0): find the place, then its weather.

Names are ambiguous: there are some twenty places called Paris. The place that is meant is looked for among the known
big cities first; else the geocoder's candidates are ranked, and the result says which was taken and what others there
are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from react_lab.errors import ToolError
from react_lab.language import Language, language_of
from react_lab.tools.cities import CITIES, find, key
from react_lab.tools.web import Service

Units = Literal["metric", "imperial"]

MAX_DAYS = 14  # more would count as more than one request
MAX_LISTED = 5  # of the places of a name
SIMILAR = 0.1  # of the chosen place's population: from here on another could have been meant
LEVELS = ("admin1", "admin2", "admin3", "admin4", "country")
# GeoNames' codes of populated places: a country's capital, that of a first-order division, of a second-order one, ...
RANKS = ("PPLC", "PPLA", "PPLA2", "PPLA3", "PPLA4", "PPL")
CURRENT = "temperature_2m,apparent_temperature,relative_humidity_2m,weather_code,wind_speed_10m,wind_direction_10m"
DAILY = "temperature_2m_min,temperature_2m_max,weather_code,precipitation_probability_max"
UNITS: Mapping[Units, Mapping[str, str]] = {
    "metric": {},
    "imperial": {"temperature_unit": "fahrenheit", "wind_speed_unit": "mph"},
}


@dataclass(frozen=True)
class Place:
    """A place on Earth. `within` names what it lies in, from the region to the country, `code` is the country's."""

    name: str
    within: tuple[str, ...]
    latitude: float
    longitude: float
    code: str = ""
    rank: int = 0
    population: int = 0

    @property
    def qualifiers(self) -> set[str]:
        """What people write after the name to say which place they mean."""
        return {key(self.code)}.union(*(COUNTRY_NAMES.get(key(part), {key(part)}) for part in self.within))

    def told(self, language: Language) -> str:
        """The name with region and country."""
        outer = dict.fromkeys((*self.within[:1], *self.within[-1:]))
        where = [part for part in outer if key(part) != key(self.name)]
        if language == "zh":
            return f"{self.name}（{'，'.join(where)}）" if where else self.name
        return ", ".join([self.name, *where])


COUNTRY_NAMES = {
    key(name): {key(other) for other in (country.english, country.chinese, *country.also)}
    for country in {city.country for city in CITIES}
    for name in (country.english, country.chinese)
}


class OpenMeteo(Service):
    name = "Open-Meteo"

    def report(self, city: str, *, days: int, units: Units) -> str:
        """The weather of a place as a model reads it, in the language of the place's name.

        Raises:
            ToolError: no such place is known, or the service failed; `Unreachable` where there is no connection.
        """
        language = language_of(city)
        place, others = self.locate(city, language)
        wanted = {"latitude": place.latitude, "longitude": place.longitude, "timezone": "auto", "current": CURRENT}
        forecast = {"daily": DAILY, "forecast_days": days} if days else {}
        params = {**wanted, **forecast, **UNITS[units]}
        data = self.ask("GET", "https://api.open-meteo.com/v1/forecast", language=language, params=params)
        try:
            lines = [now_line(place, data, language), *(day_line(data, day, language) for day in range(days))]
        except (LookupError, TypeError) as error:
            raise self.trouble("broken", language) from error
        if others:
            lines.append(others_line(others, language))
        return "\n".join([*lines, SOURCE[language]])

    def locate(self, city: str, language: Language) -> tuple[Place, list[Place]]:
        """The place that a text means, and those that it could mean as well."""
        try:
            known = find(city)
        except ToolError:
            return choose(city, self.candidates(city, language), language)
        zh = language == "zh"
        country = known.country.chinese if zh else known.country.english
        return Place(known.chinese if zh else known.english, (country,), *known.position), []

    def candidates(self, city: str, language: Language) -> list[Place]:
        """The places of a name, the most important first."""
        name = parts_of(city)[0]
        for spelling in dict.fromkeys((name, name.removesuffix("市"))):  # the geocoder may know it without 市 only
            params = {"name": spelling, "count": 20, "language": language, "format": "json"}
            data = self.ask("GET", "https://geocoding-api.open-meteo.com/v1/search", language=language, params=params)
            if data.get("results"):
                return sorted(map(place_of, data["results"]), key=lambda place: (place.rank, -place.population))
        return []


def parts_of(city: str) -> list[str]:
    """A text such as "Moscow, Idaho" or "苏州（江苏）" in its parts, the name first."""
    return [part.strip() for part in re.split(r"[,，、()（）]", city) if part.strip()] or [city]


def place_of(result: Mapping[str, Any]) -> Place:
    """A result of the geocoder; absent are names of regions that a place has none of, and the population of many."""
    code = result.get("feature_code")
    return Place(
        name=result["name"],
        within=tuple(result[level] for level in LEVELS if result.get(level)),
        latitude=result["latitude"],
        longitude=result["longitude"],
        code=result.get("country_code") or "",
        rank=RANKS.index(code) if code in RANKS else len(RANKS),
        population=result.get("population") or 0,
    )


def choose(city: str, candidates: Sequence[Place], language: Language) -> tuple[Place, list[Place]]:
    """The first candidate that lies where the text says, and the others of about its size or larger.

    Raises:
        ToolError: there is no candidate, or none lies there.
    """
    where = {key(part) for part in parts_of(city)[1:]}
    fitting = [place for place in candidates if where <= place.qualifiers]
    if not fitting:
        raise ToolError(not_found(city, candidates, language))
    best, *others = fitting
    return best, [
        place for place in others if key(place.name) == key(best.name) and place.population >= best.population * SIMILAR
    ]


# -- what the model reads ----------------------------------------------------------------------------------------


def now_line(place: Place, data: Mapping[str, Any], language: Language) -> str:
    now = data["current"]
    temperature, feels, humidity, wind = (
        measured(now, data["current_units"], name, language)
        for name in ("temperature_2m", "apparent_temperature", "relative_humidity_2m", "wind_speed_10m")
    )
    clock = str(now["time"]).replace("T", " ")
    if language == "zh":
        weather = (
            f"{temperature}，{sky(now, language)}，体感 {feels}，湿度 {humidity}，{direction(now, language)}风 {wind}"
        )
        return f"{place.told(language)}：{weather}（当地时间 {clock}）"
    weather = f"{temperature}, {sky(now, language)}, feels like {feels}, humidity {humidity}, wind {wind}"
    return f"{place.told(language)}: {weather} from the {direction(now, language)} (at {clock} local time)"


def day_line(data: Mapping[str, Any], day: int, language: Language) -> str:
    then = {name: column[day] for name, column in data["daily"].items()}
    low, high, rain = (
        measured(then, data["daily_units"], name, language)
        for name in ("temperature_2m_min", "temperature_2m_max", "precipitation_probability_max")
    )
    if language == "zh":
        return f"{then['time']}：{low} 至 {high}，{sky(then, language)}，降水概率 {rain}"
    return f"{then['time']}: {low} to {high}, {sky(then, language)}, chance of rain {rain}"


def measured(values: Mapping[str, Any], units: Mapping[str, str], name: str, language: Language) -> str:
    """A value with its unit; "?" where the service has none."""
    value, unit = values.get(name), units.get(name, "")
    return "?" if value is None else f"{value} {UNIT_NAMES[language].get(unit, unit)}"


def sky(values: Mapping[str, Any], language: Language) -> str:
    english, chinese = WEATHER_CODES.get(values.get("weather_code"), ("?", "?"))
    return chinese if language == "zh" else english


def direction(values: Mapping[str, Any], language: Language) -> str:
    return WINDS[language][round((values.get("wind_direction_10m") or 0) / 45) % 8]


def others_line(others: Sequence[Place], language: Language) -> str:
    if language == "zh":
        return f"同名的地方还有：{listed(others, language)}。需要时请写成“城市，地区”再查。"
    return f'Other places of that name: {listed(others, language)}. Ask again with "City, Region" for one of them.'


def not_found(city: str, candidates: Sequence[Place], language: Language) -> str:
    if candidates:
        if language == "zh":
            return f"没有找到“{city}”。这个名称的地方有：{listed(candidates, language)}。请照此写成“城市，地区”再查。"
        return f'"{city}" was not found. Places of that name are: {listed(candidates, language)}. Write one of these.'
    if language == "zh":
        return f"没有找到叫“{city}”的地方。请检查写法，或者换成英文名称或附近较大的城市。"
    return (
        f'No place called "{city}" was found. Check the spelling, or give a larger town nearby; write "City, Country".'
    )


def listed(places: Sequence[Place], language: Language) -> str:
    return ("；" if language == "zh" else "; ").join(place.told(language) for place in places[:MAX_LISTED])


SOURCE: Mapping[Language, str] = {
    "en": "Live data of Open-Meteo. Source: https://open-meteo.com/",
    "zh": "Open-Meteo 的实时数据。来源：https://open-meteo.com/",
}
UNIT_NAMES: Mapping[Language, Mapping[str, str]] = {
    "en": {"mp/h": "mph"},
    "zh": {"mp/h": "英里/小时", "km/h": "公里/小时"},
}
WINDS: Mapping[Language, Sequence[str]] = {
    "en": "north northeast east southeast south southwest west northwest".split(),
    "zh": "北 东北 东 东南 南 西南 西 西北".split(),
}
# WMO code 4677, as far as Open-Meteo uses it.
WEATHER_CODES: Mapping[Any, tuple[str, str]] = {
    0: ("clear", "晴"),
    1: ("mainly clear", "大部晴朗"),
    2: ("partly cloudy", "多云"),
    3: ("overcast", "阴"),
    45: ("fog", "雾"),
    48: ("fog with rime", "雾凇"),
    51: ("light drizzle", "小毛毛雨"),
    53: ("drizzle", "毛毛雨"),
    55: ("dense drizzle", "浓毛毛雨"),
    56: ("light freezing drizzle", "轻度冻毛毛雨"),
    57: ("freezing drizzle", "冻毛毛雨"),
    61: ("light rain", "小雨"),
    63: ("rain", "中雨"),
    65: ("heavy rain", "大雨"),
    66: ("light freezing rain", "小冻雨"),
    67: ("freezing rain", "冻雨"),
    71: ("light snow", "小雪"),
    73: ("snow", "中雪"),
    75: ("heavy snow", "大雪"),
    77: ("snow grains", "米雪"),
    80: ("light showers", "小阵雨"),
    81: ("showers", "阵雨"),
    82: ("violent showers", "强阵雨"),
    85: ("light snow showers", "小阵雪"),
    86: ("snow showers", "大阵雪"),
    95: ("thunderstorm", "雷阵雨"),
    96: ("thunderstorm with light hail", "雷阵雨伴小冰雹"),
    99: ("thunderstorm with hail", "雷阵雨伴冰雹"),
}
