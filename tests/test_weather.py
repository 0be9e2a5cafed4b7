"""The sample weather: which names are known, in which language it answers, and that it says what it is."""

import pytest

from react_lab.errors import ToolError
from react_lab.tools.base import Tool
from react_lab.tools.cities import CITIES, SKY, key
from react_lab.tools.weather import weather

BEIJING = "Beijing, China: 18 °C, clear, humidity 35 %, wind 12 km/h (sample data, not a live reading)"
BEIJING_CHINESE = "北京（中国）：18 °C，晴，湿度 35 %，风速 12 公里/小时（示例数据，不是实时天气）"


@pytest.mark.parametrize("city", ["Beijing", "beijing", " BEIJING ", "Peking", "Beijing, China", "China, Beijing"])
def test_a_city_asked_in_english_is_answered_in_english(city: str) -> None:
    assert weather(city) == BEIJING


@pytest.mark.parametrize("city", ["北京", "北京市", "北京，中国", "北京（中国）", "中国北京", "北京 中国"])
def test_a_city_asked_in_chinese_is_answered_in_chinese(city: str) -> None:
    assert weather(city) == BEIJING_CHINESE


@pytest.mark.parametrize(
    ("city", "place"),
    [
        ("Paris, France", "Paris, France"),
        ("New York City", "New York, United States"),
        ("New York, NY", "New York, United States"),
        ("Tokyo Japan", "Tokyo, Japan"),
        ("London, UK", "London, United Kingdom"),
        ("Xian", "Xi'an, China"),
        ("sao paulo", "São Paulo, Brazil"),
        ("München", "Munich, Germany"),
        ("Singapore, Singapore", "Singapore, Singapore"),
    ],
)
def test_other_spellings_and_the_right_country_are_understood(city: str, place: str) -> None:
    assert weather(city).startswith(f"{place}: ")


@pytest.mark.parametrize("city", ["Paris, Texas", "Paris (Texas)", "Paris, Texas, USA"])
def test_a_city_of_the_same_name_elsewhere_is_not_mistaken(city: str) -> None:
    with pytest.raises(ToolError, match="Paris, France"):
        weather(city)


def test_a_city_of_the_same_name_elsewhere_is_not_mistaken_in_chinese() -> None:
    with pytest.raises(ToolError, match="这里只有罗马（意大利）"):
        weather("罗马，美国")


@pytest.mark.parametrize(("city", "nearest"), [("Londn", "London"), ("Pariss", "Paris"), ("Mosco", "Moscow")])
def test_an_unknown_city_is_named_with_the_known_ones_nearest_first(city: str, nearest: str) -> None:
    with pytest.raises(ToolError, match=f'"{city}". Give one of these cities: {nearest}, ') as caught:
        weather(city)
    assert all(item.english in str(caught.value) for item in CITIES)


def test_an_unknown_city_asked_in_chinese_is_answered_in_chinese() -> None:
    with pytest.raises(ToolError, match="没有“南宁”的数据。请给出以下城市之一：南京、"):
        weather("南宁")


@pytest.mark.parametrize("city", ["", "  ", "，", "Beijing and Shanghai", "Romeo", "京"])
def test_what_is_no_single_city_is_refused(city: str) -> None:
    with pytest.raises(ToolError):
        weather(city)


def test_every_city_reports_in_both_languages_that_it_is_a_sample() -> None:
    for city in CITIES:
        assert weather(city.english).startswith(
            f"{city.english}, {city.country.english}: {city.celsius} °C, {city.sky}, "
        )
        assert weather(city.english).endswith("(sample data, not a live reading)")
        assert weather(city.chinese).startswith(
            f"{city.chinese}（{city.country.chinese}）：{city.celsius} °C，{SKY[city.sky]}，"
        )
        assert weather(city.chinese).endswith("（示例数据，不是实时天气）")


def test_no_two_cities_share_a_name() -> None:
    names = [name for city in CITIES for name in sorted(city.names)]
    assert len(names) == len(set(names))
    assert all(key(name) == name for name in names)


def test_the_tool_tells_a_model_that_the_data_are_made_up() -> None:
    assert isinstance(weather, Tool)
    assert "sample" in weather.description
    assert weather.parameters["required"] == ["city"]
