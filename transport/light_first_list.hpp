#pragma once

#include "transport/intrusive_fifo.hpp"

namespace vmswitch {

/// Hands light nodes out before heavy ones, each kind in its order, but never more than
/// `most_light` in a row while a heavy one waits. One owner.
template <class Node, Node* Node::*Next>
class light_first_list {
public:
  static constexpr unsigned most_light = 16;

  std::size_t size() const noexcept { return light_.size() + heavy_.size(); }
  void push(Node& added, bool heavy) noexcept { (heavy ? heavy_ : light_).push(added); }
  /// Null if it is empty.
  Node* pop() noexcept {
    const bool heavy_is_due = !heavy_.empty() && (light_.empty() || light_in_a_row_ >= most_light);
    light_in_a_row_ = heavy_is_due ? 0 : light_in_a_row_ + 1;
    return (heavy_is_due ? heavy_ : light_).pop();
  }

private:
  intrusive_fifo<Node, Next> light_;
  intrusive_fifo<Node, Next> heavy_;
  unsigned light_in_a_row_ = 0;
};

} // namespace vmswitch
