#pragma once

#include <cstddef>

namespace vmswitch {

/// A first-in-first-out list through a pointer that its nodes have for that; it never allocates.
/// A node is in one list at a time. One owner.
template <class Node, Node* Node::*Next>
class intrusive_fifo {
public:
  bool empty() const noexcept { return head_ == nullptr; }
  std::size_t size() const noexcept { return size_; }

  void push(Node& added) noexcept {
    added.*Next = nullptr;
    (tail_ ? tail_->*Next : head_) = &added;
    tail_ = &added;
    ++size_;
  }
  /// Null if it is empty.
  Node* pop() noexcept {
    Node* const popped = head_;
    if (popped) {
      head_ = popped->*Next;
      if (!head_)
        tail_ = nullptr;
      --size_;
    }
    return popped;
  }

private:
  Node* head_ = nullptr;
  Node* tail_ = nullptr;
  std::size_t size_ = 0;
};

} // namespace vmswitch
