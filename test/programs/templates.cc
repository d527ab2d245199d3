/*
 * Hard work for a compiler: the tests profile g++ on this file. It is also a
 * program, which prints one number.
 */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

template <std::size_t N> struct fibonacci {
	static constexpr unsigned long value = fibonacci<N - 1>::value + fibonacci<N - 2>::value;
};
template <> struct fibonacci<1> {
	static constexpr unsigned long value = 1;
};
template <> struct fibonacci<0> {
	static constexpr unsigned long value = 0;
};

template <int N> struct tagged {
	std::vector<std::pair<std::string, std::variant<int, double, std::string>>> rows;

	int count() const
	{
		return std::accumulate(rows.begin(), rows.end(), N, [](int sum, const auto &row) {
			return sum + std::visit(
				[](const auto &value) {
					using type = std::decay_t<decltype(value)>;
					if constexpr (std::is_same_v<type, std::string>)
						return static_cast<int>(value.size());
					else
						return static_cast<int>(value);
				},
				row.second);
		});
	}
};

template <int... N> int count_all(std::integer_sequence<int, N...>)
{
	auto all = std::make_tuple(std::make_unique<tagged<N>>()...);

	return std::apply(
		[](auto &...each) {
			(each->rows.emplace_back("n", each->count()), ...);
			return (each->count() + ... + 0);
		},
		all);
}

int main()
{
	std::map<std::string, std::function<unsigned long()>> work = {
		{ "fibonacci", [] { return fibonacci<80>::value; } },
		{ "tagged", [] { return count_all(std::make_integer_sequence<int, 24>()); } },
		{ "regex", [] { return std::regex_match("aaab", std::regex("a*b")) ? 1ul : 0ul; } },
	};
	unsigned long sum = 0;

	for (const auto &[name, function] : work)
		sum += function() + name.size();
	std::printf("%lu\n", sum);
	return 0;
}
