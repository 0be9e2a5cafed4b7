"""Live weather: which place is taken, what is said of it, and what happens when the service fails.

The answers are written after Open-Meteo's documentation; nothing here reaches a network.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from react_lab.agent import Agent
from react_lab.errors import TemporaryToolError, ToolError
from react_lab.messages import ToolCall
from react_lab.models.offline import OfflineModel
from react_lab.tool_use import ToolUseAgent
from react_lab.tools.cities import CITIES
from react_lab.tools.open_meteo import WEATHER_CODES, OpenMeteo
from react_lab.tools.registry import ToolRegistry
from react_lab.tools.weather import make_weather, weather


def place(name: str, admin1: str, country: str, code: str, kind: str = "PPL", population: int | None = None) -> Any:
    found = {"name": name, "admin1": admin1, "country": country, "country_code": code, "feature_code": kind}
    known = {} if population is None else {"population": population}
    return {**found, **known, "id": 1, "latitude": 1.5, "longitude": 2.5, "timezone": "UTC"}


SPRINGFIELDS = [
    place("Springfield", "Oregon", "United States", "US", "PPL", 60_000),
    place("Springfield", "Illinois", "United States", "US", "PPLA", 114_000),
    place("Springfield", "Missouri", "United States", "US", "PPLA2", 167_000),
    place("Springfield", "Otago", "New Zealand", "NZ", "PPL", 300),
    place("Springfield Park", "Florida", "United States", "US", "PPL", 100_000),
]
PLACES = {
    ("Springfield", "en"): SPRINGFIELDS,
    ("Paris", "en"): [
        place("Paris", "Texas", "United States", "US", "PPLA2", 24_000),
        place("Paris", "Île-de-France", "France", "FR", "PPLC", 2_138_000),
    ],
    ("Kyoto", "en"): [place("Kyoto", "Kyoto", "Japan", "JP", "PPLA", 1_460_000)],
    ("Moscow", "en"): [
        place("Moscow", "Moscow", "Russia", "RU", "PPLC", 10_000_000),
        place("Moscow", "Idaho", "United States", "US", "PPLA2", 25_000),
    ],
    ("Cardiff", "en"): [place("Cardiff", "Wales", "United Kingdom", "GB", "PPLA", 447_000)],
    ("苏州", "zh"): [
        place("苏州", "四川省", "中国", "CN", "PPL"),
        place("苏州", "江苏", "中国", "CN", "PPLA2", 5_345_000),
    ],
    ("Nowhere", "en"): [{"name": "Nowhere", "latitude": 0, "longitude": 0}],
}
FORECAST: dict[str, Any] = {
    "timezone": "Asia/Tokyo",
    "current_units": {
        "temperature_2m": "°C",
        "apparent_temperature": "°C",
        "relative_humidity_2m": "%",
        "wind_speed_10m": "km/h",
    },
    "current": {
        "time": "2026-11-29T14:15",
        "interval": 900,
        "temperature_2m": 12.3,
        "apparent_temperature": 10.9,
        "relative_humidity_2m": 61,
        "weather_code": 2,
        "wind_speed_10m": 8.4,
        "wind_direction_10m": 315,
    },
    "daily_units": {"temperature_2m_min": "°C", "temperature_2m_max": "°C", "precipitation_probability_max": "%"},
    "daily": {
        "time": ["2026-11-29", "2026-11-30"],
        "temperature_2m_min": [8.1, 7.0],
        "temperature_2m_max": [15.2, 14.0],
        "weather_code": [61, 999],
        "precipitation_probability_max": [60, None],
    },
}


class Servers:
    """The geocoder and the forecast, and what they were asked."""

    def __init__(self, forecast: Any = FORECAST) -> None:
        self.forecast = forecast
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        if request.url.host == "geocoding-api.open-meteo.com":
            found = PLACES.get((request.url.params["name"], request.url.params["language"]))
            return httpx2.Response(200, json={"results": found} if found else {"generationtime_ms": 0.1})
        assert request.url.host == "api.open-meteo.com"
        return httpx2.Response(200, json=self.forecast)

    @property
    def geocoded(self) -> list[str]:
        return [request.url.params["name"] for request in self.requests if "geocoding" in request.url.host]


def live(handler: Callable[[httpx2.Request], httpx2.Response]) -> Any:
    return make_weather(live=True, service=OpenMeteo(transport=httpx2.MockTransport(handler)))


def first_line(city: str) -> str:
    return str(live(Servers())(city)).splitlines()[0]


def test_the_current_weather_is_told_with_place_units_time_and_source() -> None:
    assert live(Servers())("Kyoto").splitlines() == [
        "Kyoto, Japan: 12.3 °C, partly cloudy, feels like 10.9 °C, humidity 61 %, wind 8.4 km/h from the northwest "
        "(at 2026-11-29 14:15 local time)",
        "Live data of Open-Meteo. Source: https://open-meteo.com/",
    ]


def test_in_chinese_everything_is_chinese() -> None:
    assert live(Servers())("苏州", 1).splitlines() == [
        "苏州（江苏，中国）：12.3 °C，多云，体感 10.9 °C，湿度 61 %，西北风 8.4 公里/小时（当地时间 2026-11-29 14:15）",
        "2026-11-29：8.1 °C 至 15.2 °C，小雨，降水概率 60 %",
        "Open-Meteo 的实时数据。来源：https://open-meteo.com/",
    ]


def test_a_forecast_has_a_line_a_day_and_says_what_is_not_known() -> None:
    servers = Servers()
    lines = live(servers)("Kyoto", 2).splitlines()
    assert lines[1:3] == [
        "2026-11-29: 8.1 °C to 15.2 °C, light rain, chance of rain 60 %",
        "2026-11-30: 7.0 °C to 14.0 °C, ?, chance of rain ?",
    ]
    asked = servers.requests[-1].url.params
    assert (asked["forecast_days"], asked["timezone"], asked["latitude"]) == ("2", "auto", "1.5")


def test_without_days_no_forecast_is_asked_for() -> None:
    servers = Servers()
    live(servers)("Kyoto")
    assert "daily" not in servers.requests[-1].url.params


def test_imperial_units_are_asked_for_and_told() -> None:
    units = {**FORECAST["current_units"], "temperature_2m": "°F", "wind_speed_10m": "mp/h"}
    servers = Servers({**FORECAST, "current_units": units})
    assert "12.3 °F" in live(servers)("Kyoto", None, "imperial")
    assert "8.4 mph" in live(servers)("Kyoto", None, "imperial")
    assert "8.4 英里/小时" in live(servers)("苏州", None, "imperial")
    asked = servers.requests[-1].url.params
    assert (asked["temperature_unit"], asked["wind_speed_unit"]) == ("fahrenheit", "mph")


# -- which place -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("city", ["北京", "北京市", "Beijing, China", "Paris", "東京"])
def test_a_known_big_city_is_not_looked_for(city: str) -> None:
    servers = Servers()
    live(servers)(city)
    assert servers.geocoded == []


def test_the_known_position_is_that_of_the_city() -> None:
    servers = Servers()
    assert live(servers)("北京").startswith("北京（中国）：")
    assert servers.requests[0].url.params["latitude"] == "39.9"
    assert all(-90 < city.position[0] < 90 and -180 < city.position[1] < 180 for city in CITIES)


@pytest.mark.parametrize(
    ("city", "told"),
    [
        ("Moscow, Idaho", "Moscow, Idaho, United States: "),
        ("Moscow (Idaho, USA)", "Moscow, Idaho, United States: "),
        ("Paris, Texas", "Paris, Texas, United States: "),
        ("Springfield, Illinois", "Springfield, Illinois, United States: "),
        ("Springfield, NZ", "Springfield, Otago, New Zealand: "),
        ("Cardiff, UK", "Cardiff, Wales, United Kingdom: "),
        ("苏州，四川", "苏州（四川省，中国）："),
        ("苏州市", "苏州（江苏，中国）："),
        ("Nowhere", "Nowhere: "),
    ],
)
def test_a_region_or_country_in_the_text_decides(city: str, told: str) -> None:
    assert first_line(city).startswith(told)


def test_the_kind_of_place_goes_before_its_population() -> None:
    assert first_line("Springfield").startswith("Springfield, Illinois, United States: ")


def test_other_places_that_could_be_meant_are_listed() -> None:
    assert live(Servers())("Springfield").splitlines()[1] == (
        "Other places of that name: Springfield, Missouri, United States; Springfield, Oregon, United States. "
        'Ask again with "City, Region" for one of them.'
    )
    assert "Other places" not in live(Servers())("Kyoto")


def test_a_village_is_not_taken_for_the_big_city_of_its_name() -> None:
    assert first_line("苏州").startswith("苏州（江苏，中国）")
    assert "同名的地方还有" not in live(Servers())("苏州")


def test_a_name_with_市_is_looked_for_without_it_too() -> None:
    servers = Servers()
    live(servers)("苏州市")
    assert servers.geocoded == ["苏州市", "苏州"]


@pytest.mark.parametrize(
    ("city", "told"),
    [
        ("Atlantis", 'No place called "Atlantis" was found. .*write "City, Country"'),
        ("亚特兰蒂斯", "没有找到叫“亚特兰蒂斯”的地方"),
        ("Springfield, France", '"Springfield, France" was not found. Places of that name are: Springfield, Illinois'),
        ("苏州，日本", "没有找到“苏州，日本”。这个名称的地方有：苏州（江苏，中国）；"),
    ],
)
def test_a_place_that_is_not_found_is_told_with_those_that_there_are(city: str, told: str) -> None:
    with pytest.raises(ToolError, match=told):
        live(Servers())(city)


# -- failures ----------------------------------------------------------------------------------------------------


def offline(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("no network")


def test_without_a_network_the_sample_is_given_as_a_sample() -> None:
    told, warning = live(offline)("Beijing").splitlines()
    assert told == weather("Beijing")
    assert warning.startswith("(Open-Meteo can't be reached, so these are made-up data for lessons.")
    assert "不要当作今天的天气" in live(offline)("北京")


def test_without_a_network_an_unknown_place_is_an_error_that_says_so() -> None:
    with pytest.raises(ToolError, match="no connection to Open-Meteo"):
        live(offline)("Kyoto")


def test_a_limit_is_temporary_and_a_refusal_gives_the_reason() -> None:
    with pytest.raises(TemporaryToolError, match="takes no more requests"):
        live(lambda request: httpx2.Response(429, json={"error": True, "reason": "Minutely limit exceeded"}))("Kyoto")
    with pytest.raises(ToolError, match=r"refused the request.*\(Parameter count must be positive\)"):
        live(lambda request: httpx2.Response(400, json={"error": True, "reason": "Parameter count must be positive"}))(
            "Kyoto"
        )


@pytest.mark.parametrize("answer", [{}, {"current": {}}, {**FORECAST, "daily": {"time": []}}])
def test_an_answer_of_unknown_form_is_a_fault_of_the_service(answer: Any) -> None:
    with pytest.raises(TemporaryToolError, match="fault of its own"):
        live(Servers(answer))("Kyoto", 1)


@pytest.mark.parametrize(("city", "days"), [("", None), (" ", None), ("Kyoto", 0), ("Kyoto", 15)])
def test_arguments_that_make_no_sense_are_refused_before_anything_is_sent(city: str, days: int | None) -> None:
    servers = Servers()
    with pytest.raises(ValueError, match="give"):
        live(servers)(city, days)
    assert not servers.requests


# -- the tools ---------------------------------------------------------------------------------------------------


def test_without_live_it_is_the_sample() -> None:
    assert make_weather() is weather
    assert make_weather(live=True).name == weather.name == "weather"


def test_the_arguments_of_a_strict_provider_are_taken() -> None:
    registry = ToolRegistry([live(Servers())])
    result = registry.run(ToolCall("1", "weather", {"city": "Kyoto", "days": None, "units": None}))
    assert not result.is_error


def test_the_stand_in_can_use_live_weather() -> None:
    agent: Agent = ToolUseAgent(OfflineModel(), ToolRegistry([live(Servers())]))
    assert "12.3 °C" in (agent.run("What is the weather in Kyoto?").answer or "")


def test_every_code_has_its_words_in_both_languages() -> None:
    for english, chinese in WEATHER_CODES.values():
        assert english.isascii()
        assert not chinese.isascii()
    assert len(set(WEATHER_CODES.values())) == len(WEATHER_CODES)
