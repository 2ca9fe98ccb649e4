#pragma once
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace lm {

// body(i) for i in 0 .. n-1 on so many threads, in no order; rethrows what one of them threw.
template<class Body> void in_parallel(int n, int threads, Body body) {
    std::atomic<int> next{0};
    std::exception_ptr failure;
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    auto const work = [&] {
        try {
            for (int i; (i = next++) < n;) body(i);
        } catch (...) {
            if (!failed.test_and_set()) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (int t = 1; t < threads && t < n; ++t) others.emplace_back(work);
    work();
    for (auto& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

} // namespace lm
