"""Some big cities with their positions, and made-up weather for lessons without a network."""

import re
import unicodedata
from dataclasses import dataclass
from difflib import SequenceMatcher

from react_lab.errors import ToolError
from react_lab.language import Language, language_of


@dataclass(frozen=True)
class Country:
    english: str
    chinese: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class City:
    english: str
    chinese: str
    country: Country
    position: tuple[float, float]  # degrees north, degrees east
    celsius: int
    sky: str
    humidity_percent: int
    wind_km_h: int
    also: tuple[str, ...] = ()  # other names
    region: tuple[str, ...] = ()  # what people write after the name, beside the country

    @property
    def names(self) -> set[str]:
        return {key(name) for name in (self.english, self.chinese, *self.also)}

    @property
    def qualifiers(self) -> set[str]:
        country = self.country
        return {key(name) for name in (country.english, country.chinese, *country.also, *self.region)}

    def place(self, language: Language) -> str:
        """The city with its country, so that whoever reads it sees which Paris was meant."""
        if language == "zh":
            return f"{self.chinese}（{self.country.chinese}）"
        return f"{self.english}, {self.country.english}"

    def report(self, language: Language) -> str:
        if language == "zh":
            return (
                f"{self.place('zh')}：{self.celsius} °C，{SKY[self.sky]}，湿度 {self.humidity_percent} %，"
                f"风速 {self.wind_km_h} 公里/小时（示例数据，不是实时天气）"
            )
        return (
            f"{self.place('en')}: {self.celsius} °C, {self.sky}, humidity {self.humidity_percent} %, "
            f"wind {self.wind_km_h} km/h (sample data, not a live reading)"
        )


def find(city: str) -> City:
    """The city that a text names.

    Raises:
        ToolError: none is known by that name, or the one that is known lies elsewhere.
    """
    parts = [key(part) for part in re.split(r"[,，、()（）]", city) if key(part)]
    for name in parts:
        for candidate in CITIES:
            if names(candidate, name):
                if set(parts) - {name} <= candidate.qualifiers:
                    return candidate
                raise ToolError(elsewhere(city, candidate))
    raise ToolError(unknown(city))


def names(candidate: City, name: str) -> bool:
    """Whether a name is the city's own, alone or joined to its country: 北京, Tokyo Japan, 中国北京."""
    return name in candidate.names or any(
        own in name and name.replace(own, "", 1) in candidate.qualifiers for own in candidate.names
    )


def elsewhere(city: str, candidate: City) -> str:
    language = language_of(city)
    if language == "zh":
        return f"没有“{city}”的数据：这里只有{candidate.place(language)}。"
    return f'There are no data for "{city}": the one that is known here is {candidate.place(language)}.'


def unknown(city: str) -> str:
    """Say which cities there are, those of similar spelling first."""
    language = language_of(city)
    known = {item.chinese if language == "zh" else item.english: item for item in CITIES}
    asked = key(city)[:50]
    nearest = sorted(known, key=lambda name: SequenceMatcher(None, key(name), asked).ratio(), reverse=True)
    if language == "zh":
        return f"没有“{city}”的数据。请给出以下城市之一：{'、'.join(nearest)}。"
    return f'There are no data for "{city}". Give one of these cities: {", ".join(nearest)}.'


def key(name: str) -> str:
    """A name as it is compared: without case, accents, spaces and points, and without 市, 省 or City at its end."""
    plain = unicodedata.normalize("NFKD", name).casefold()
    letters = "".join(char for char in plain if char.isalnum())
    return re.sub(r"(?<=.)(市|省|city)$", "", letters)


SKY = {
    "clear": "晴",
    "partly cloudy": "多云",
    "overcast": "阴",
    "light rain": "小雨",
    "showers": "阵雨",
    "thunderstorm": "雷阵雨",
    "fog": "雾",
    "light snow": "小雪",
}

CHINA = Country("China", "中国", ("PRC", "CN", "中华人民共和国"))
JAPAN = Country("Japan", "日本", ("JP",))
INDIA = Country("India", "印度", ("IN",))
GERMANY = Country("Germany", "德国", ("DE", "Deutschland"))
AUSTRALIA = Country("Australia", "澳大利亚", ("AU", "澳洲"))
CANADA = Country("Canada", "加拿大", ("CA",))
USA = Country("United States", "美国", ("USA", "US", "U.S.A.", "America", "United States of America"))
UK = Country("United Kingdom", "英国", ("UK", "GB", "Great Britain", "Britain", "England"))
TURKEY = Country("Turkey", "土耳其", ("Türkiye", "TR"))
GUANGDONG, CALIFORNIA, BAVARIA = ("Guangdong", "广东"), ("California", "CA"), ("Bavaria", "Bayern")

CITIES = (
    City("Beijing", "北京", CHINA, (39.9, 116.4), 18, "clear", 35, 12, also=("Peking",)),
    City("Shanghai", "上海", CHINA, (31.23, 121.47), 22, "partly cloudy", 68, 15),
    City("Guangzhou", "广州", CHINA, (23.13, 113.26), 28, "showers", 82, 9, also=("Canton",), region=GUANGDONG),
    City("Shenzhen", "深圳", CHINA, (22.54, 114.06), 27, "partly cloudy", 78, 14, region=GUANGDONG),
    City("Chengdu", "成都", CHINA, (30.57, 104.07), 19, "overcast", 74, 6, region=("Sichuan", "四川")),
    City("Hangzhou", "杭州", CHINA, (30.27, 120.16), 21, "light rain", 80, 10, region=("Zhejiang", "浙江")),
    City("Wuhan", "武汉", CHINA, (30.59, 114.31), 23, "partly cloudy", 66, 8, region=("Hubei", "湖北")),
    City("Nanjing", "南京", CHINA, (32.06, 118.8), 20, "overcast", 70, 11, region=("Jiangsu", "江苏")),
    City("Xi'an", "西安", CHINA, (34.26, 108.94), 17, "fog", 60, 5, region=("Shaanxi", "陕西")),
    City("Chongqing", "重庆", CHINA, (29.56, 106.55), 24, "light rain", 77, 4),
    City("Tianjin", "天津", CHINA, (39.13, 117.2), 16, "clear", 42, 13),
    City("Harbin", "哈尔滨", CHINA, (45.8, 126.53), -6, "light snow", 64, 17, region=("Heilongjiang", "黑龙江")),
    City("Hong Kong", "香港", CHINA, (22.28, 114.16), 26, "thunderstorm", 85, 19, also=("HK", "Hongkong")),
    City("Tokyo", "东京", JAPAN, (35.69, 139.69), 20, "light rain", 72, 16, also=("東京", "东京都")),
    City("Osaka", "大阪", JAPAN, (34.69, 135.5), 21, "partly cloudy", 65, 11),
    City("Seoul", "首尔", Country("South Korea", "韩国", ("Korea", "KR")), (37.57, 126.98), 15, "clear", 48, 9),
    City("Singapore", "新加坡", Country("Singapore", "新加坡", ("SG",)), (1.29, 103.85), 31, "thunderstorm", 84, 10),
    City("Bangkok", "曼谷", Country("Thailand", "泰国", ("TH",)), (13.75, 100.5), 33, "showers", 75, 8),
    City("New Delhi", "新德里", INDIA, (28.61, 77.21), 30, "fog", 55, 7, also=("Delhi", "德里")),
    City("Mumbai", "孟买", INDIA, (19.08, 72.88), 32, "partly cloudy", 73, 14, also=("Bombay",)),
    City("Dubai", "迪拜", Country("United Arab Emirates", "阿联酋", ("UAE",)), (25.2, 55.27), 36, "clear", 40, 18),
    City("Moscow", "莫斯科", Country("Russia", "俄罗斯", ("RU",)), (55.76, 37.62), 3, "light snow", 79, 20),
    City("Istanbul", "伊斯坦布尔", TURKEY, (41.01, 28.98), 17, "overcast", 69, 22),
    City("Cairo", "开罗", Country("Egypt", "埃及", ("EG",)), (30.04, 31.24), 29, "clear", 28, 13),
    City("Nairobi", "内罗毕", Country("Kenya", "肯尼亚", ("KE",)), (-1.29, 36.82), 22, "partly cloudy", 58, 12),
    City("London", "伦敦", UK, (51.51, -0.13), 12, "light rain", 81, 21),
    City("Paris", "巴黎", Country("France", "法国", ("FR",)), (48.86, 2.35), 14, "overcast", 70, 14),
    City("Berlin", "柏林", GERMANY, (52.52, 13.4), 10, "overcast", 76, 18),
    City("Munich", "慕尼黑", GERMANY, (48.14, 11.58), 8, "showers", 78, 15, also=("München",), region=BAVARIA),
    City("Madrid", "马德里", Country("Spain", "西班牙", ("ES",)), (40.42, -3.7), 19, "clear", 38, 10),
    City("Rome", "罗马", Country("Italy", "意大利", ("IT",)), (41.9, 12.5), 20, "partly cloudy", 62, 9, also=("Roma",)),
    City("New York", "纽约", USA, (40.71, -74.01), 13, "clear", 52, 19, also=("NYC",), region=("NY",)),
    City("San Francisco", "旧金山", USA, (37.77, -122.42), 16, "fog", 77, 23, also=("三藩市",), region=CALIFORNIA),
    City("Los Angeles", "洛杉矶", USA, (34.05, -118.24), 24, "clear", 45, 8, also=("LA",), region=CALIFORNIA),
    City("Chicago", "芝加哥", USA, (41.88, -87.63), 9, "partly cloudy", 60, 26, region=("Illinois", "IL")),
    City("Toronto", "多伦多", CANADA, (43.65, -79.38), 7, "overcast", 71, 17, region=("Ontario", "ON")),
    City("Sydney", "悉尼", AUSTRALIA, (-33.87, 151.21), 23, "clear", 57, 20, region=("New South Wales", "NSW")),
    City("São Paulo", "圣保罗", Country("Brazil", "巴西", ("BR",)), (-23.55, -46.63), 25, "thunderstorm", 80, 11),
)
