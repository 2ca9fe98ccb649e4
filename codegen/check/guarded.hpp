#pragma once
// Memory between two pages that nobody may touch, and a way to call something and be told what it touched. A buffer
// that lies against the page behind it catches every access past its end, one that lies against the page before it
// every access before its begin; the bytes on the other side hold a pattern, so that a write there is seen too.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace deltaloom::codegen {

enum class GuardedEnd { front, back }; // the end that lies against a forbidden page

class Guarded {
public:
    explicit Guarded(std::size_t capacity) {
        page_ = std::size_t(sysconf(_SC_PAGESIZE));
        room_ = (capacity + page_ - 1) / page_ * page_;
        void* const all =
            mmap(nullptr, room_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) throw std::bad_alloc();
        mapped_ = static_cast<std::byte*>(all);
        if (room_ && mprotect(mapped_ + page_, room_, PROT_READ | PROT_WRITE)) {
            munmap(mapped_, room_ + 2 * page_);
            throw std::bad_alloc();
        }
    }
    Guarded(std::size_t bytes, GuardedEnd end) : Guarded(bytes) { place(bytes, end); }
    Guarded(Guarded&& other) noexcept { *this = std::move(other); }
    Guarded& operator=(Guarded&& other) noexcept {
        std::swap(mapped_, other.mapped_), std::swap(room_, other.room_), std::swap(page_, other.page_);
        std::swap(data_, other.data_), std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~Guarded() {
        if (mapped_) munmap(mapped_, room_ + 2 * page_);
    }

    // A buffer of at most the capacity, in place of the one before it. Its bytes are whatever was there.
    std::byte* place(std::size_t bytes, GuardedEnd end) {
        if (bytes > room_) throw std::bad_alloc();
        bytes_ = bytes;
        data_ = mapped_ + page_ + (end == GuardedEnd::front ? 0 : room_ - bytes);
        std::memset(beside(), pattern, beside_bytes());
        return data_;
    }
    std::byte* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }
    template<class T> T* as() const { return reinterpret_cast<T*>(data_); }
    void fill(unsigned char byte) const { std::memset(data_, byte, bytes_); }
    // Nothing was written beside the buffer, as far as there is room before the page that catches it.
    bool intact() const {
        for (std::size_t i = 0; i < beside_bytes(); ++i)
            if (beside()[i] != std::byte(pattern)) return false;
        return true;
    }
    // Within the buffer's own forbidden pages.
    bool guards(void const* address) const {
        auto const at = static_cast<std::byte const*>(address);
        return at >= mapped_ && at < mapped_ + room_ + 2 * page_;
    }

private:
    static constexpr unsigned char pattern = 0xa5;
    static constexpr std::size_t watched = 512;
    std::byte *mapped_ = nullptr, *data_ = nullptr;
    std::size_t page_ = 0, room_ = 0, bytes_ = 0;

    bool at_front() const { return data_ == mapped_ + page_; }
    std::size_t beside_bytes() const {
        std::size_t const slack = room_ - bytes_;
        return slack < watched ? slack : watched;
    }
    std::byte* beside() const { return at_front() ? data_ + bytes_ : data_ - beside_bytes(); }
};

namespace guarded_detail {
inline thread_local sigjmp_buf back;
inline thread_local std::sig_atomic_t volatile watching = 0;
inline thread_local void const* volatile touched = nullptr;
inline void caught(int signal, siginfo_t* info, void*) {
    if (!watching) { // not ours: dies as it would have
        struct sigaction usual{};
        usual.sa_handler = SIG_DFL;
        sigaction(signal, &usual, nullptr);
        return;
    }
    touched = info->si_addr;
    siglongjmp(back, 1);
}
} // namespace guarded_detail

// Calls f and says at which address it touched memory that it may not; null: it touched none and returned. What f left
// half done stays so: it may own nothing that a destructor frees, and runs on the calling thread alone.
template<class F> void const* forbidden_touch(F f) {
    struct sigaction ours{}, segv{}, bus{};
    ours.sa_sigaction = guarded_detail::caught;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    sigaction(SIGSEGV, &ours, &segv);
    sigaction(SIGBUS, &ours, &bus);
    guarded_detail::touched = nullptr;
    if (sigsetjmp(guarded_detail::back, 1) == 0) {
        guarded_detail::watching = 1;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        f();
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    guarded_detail::watching = 0;
    sigaction(SIGSEGV, &segv, nullptr);
    sigaction(SIGBUS, &bus, nullptr);
    return guarded_detail::touched;
}

} // namespace deltaloom::codegen
