#pragma once
// The one thing with threads of its own: a small pool that starts when a caller asks for `threads` and brings no
// parallel_for.
#include <condition_variable>
#include <cstdint>
#include <deltaloom/runtime/isa.hpp>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

class pool {
public:
    using body = void (*)(void*, std::int64_t);
    // body(context, i) for every i in 0 .. n-1; the calling thread works too. Calls from several threads run one after
    // the other.
    void run(std::int64_t n, body f, void* context) {
        std::lock_guard<std::mutex> const one_at_a_time(call_);
        std::unique_lock<std::mutex> lock(state_);
        while (std::int64_t(workers_.size()) < n - 1 && workers_.size() < most) {
            try {
                workers_.emplace_back([this] { work(); });
            } catch (std::system_error const&) {
                break; // the machine gives no more: those that are there do the work
            }
        }
        function_ = f, context_ = context, count_ = n, next_ = 0, running_ = 0;
        wake_.notify_all();
        take(lock);
        done_.wait(lock, [this] { return running_ == 0; });
        function_ = nullptr;
    }
    ~pool() {
        {
            std::lock_guard<std::mutex> const lock(state_);
            stop_ = true;
        }
        wake_.notify_all();
        for (auto& worker : workers_) worker.join();
    }

private:
    static constexpr std::size_t most = 255; // bodies do not wait for each other: fewer threads are slower, never wrong
    std::mutex call_, state_;
    std::condition_variable wake_, done_;
    std::vector<std::thread> workers_;
    body function_ = nullptr;
    void* context_ = nullptr;
    std::int64_t count_ = 0, next_ = 0, running_ = 0;
    bool stop_ = false;

    void take(std::unique_lock<std::mutex>& lock) {
        while (function_ && next_ < count_) {
            std::int64_t const mine = next_++;
            ++running_;
            lock.unlock();
            function_(context_, mine);
            lock.lock();
            if (--running_ == 0 && next_ >= count_) done_.notify_all();
        }
    }
    void work() {
        std::unique_lock<std::mutex> lock(state_);
        while (!stop_) {
            wake_.wait(lock, [this] { return stop_ || (function_ && next_ < count_); });
            take(lock);
        }
    }
};

inline pool& shared_pool() {
    static pool one;
    return one;
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
