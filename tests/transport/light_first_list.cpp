#include "transport/light_first_list.hpp"

#include <array>
#include <string>

#include <doctest/doctest.h>

using namespace vmswitch;

namespace {

struct node {
  char name = '?';
  node* next = nullptr;
};
using list = light_first_list<node, &node::next>;

std::string all_of(list& from) {
  std::string names;
  while (const node* next = from.pop())
    names += next->name;
  return names;
}

} // namespace

TEST_SUITE("light_first_list") {
  TEST_CASE("light ones go first, each kind in its order") {
    std::array<node, 4> nodes{{{'a'}, {'b'}, {'c'}, {'d'}}};
    list order;
    order.push(nodes[0], true);
    order.push(nodes[1], false);
    order.push(nodes[2], true);
    order.push(nodes[3], false);
    CHECK(order.size() == 4);
    CHECK(all_of(order) == "bdac");
    CHECK(order.size() == 0);
    CHECK(order.pop() == nullptr);
  }

  TEST_CASE("a heavy one waits for so many light ones and no more") {
    node heavy{'H'};
    std::array<node, list::most_light + 4> light;
    list order;
    order.push(heavy, true);
    for (node& each : light) {
      each.name = 'l';
      order.push(each, false);
    }
    const auto names = all_of(order);
    CHECK(names.find('H') == list::most_light);
    CHECK(names.size() == light.size() + 1);
  }
}
