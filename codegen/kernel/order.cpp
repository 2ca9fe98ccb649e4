#include "codegen/kernel/order.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace deltaloom::codegen {
namespace {

using Reads =
    std::map<BufferId, bool>; // true: only the very entry that is written, so that the result may stand in its place

bool same_extents(Function const& f, BufferId a, BufferId b) {
    return f.buffers[a].rows == f.buffers[b].rows && f.buffers[a].cols == f.buffers[b].cols;
}
void note(Reads& reads, BufferId b, bool in_place) {
    auto const [at, added] = reads.try_emplace(b, in_place);
    if (!added) at->second = at->second && in_place;
}
// Every entry is written once: a sum comes back to its own.
bool once(Statement const& s) {
    return std::all_of(s.loops.begin(), s.loops.end(),
                       [&](Loop const& l) { return l.variable == s.row || l.variable == s.col; });
}
void read(Function const& f, Statement const& s, Scalar const& value, BufferId target, Reads& reads) {
    if (value.kind == Scalar::Kind::element && value.buffer != target)
        note(reads, value.buffer,
             once(s) && value.row == s.row && value.col == s.col && same_extents(f, value.buffer, target));
    for (auto const& a : value.arguments) read(f, s, a, target, reads);
}
Reads reads_of(Function const& f, Block const& block) {
    Reads reads;
    for (auto const& s : block.statements) {
        if (s.kind == Statement::Kind::each) read(f, s, s.value, block.target, reads);
        for (auto const& a : s.arguments) {
            if (a.buffer >= 0 && a.buffer != block.target) note(reads, a.buffer, false);
            for (BufferId b : a.list) note(reads, b, false);
        }
    }
    return reads;
}

void rename(Scalar& value, BufferId from, BufferId to) {
    if (value.buffer == from) value.buffer = to;
    for (auto& a : value.arguments) rename(a, from, to);
}
void rename(Argument& a, BufferId from, BufferId to) {
    if (a.buffer == from) a.buffer = to;
    std::replace(a.list.begin(), a.list.end(), from, to);
}
void rename(Block& block, BufferId from, BufferId to) {
    if (block.target == from) block.target = to;
    for (auto& s : block.statements) {
        if (s.buffer == from) s.buffer = to;
        rename(s.value, from, to);
        for (auto& a : s.arguments) rename(a, from, to);
    }
}

struct Graph {
    std::vector<std::set<int>> after;      // blocks that have to come before
    bool reaches(int from, int to) const { // does `to` have to come after `from`
        if (from == to) return true;
        return std::any_of(after[to].begin(), after[to].end(), [&](int b) { return reaches(from, b); });
    }
};

// Every block after what it reads; what stores results as soon as they are there; otherwise as written.
std::vector<int> sorted(std::vector<Block> const& blocks, Graph const& graph) {
    std::vector<int> order;
    std::vector<char> done(blocks.size(), 0);
    auto const ready = [&](int b) {
        return !done[b] && std::all_of(graph.after[b].begin(), graph.after[b].end(), [&](int a) { return done[a]; });
    };
    while (order.size() < blocks.size()) {
        int next = -1;
        for (int b = 0; b < int(blocks.size()); ++b) {
            if (!ready(b)) continue;
            if (next < 0 || (blocks[b].target < 0 && blocks[next].target >= 0)) next = b;
        }
        done[next] = 1;
        order.push_back(next);
    }
    return order;
}

Statement memory(Statement::Kind kind, BufferId buffer, BufferId other = -1) {
    Statement s;
    s.kind = kind;
    s.buffer = buffer;
    s.other = other;
    return s;
}

} // namespace

void arrange(Function& f, std::vector<Block> blocks, std::size_t loads, std::vector<Carried> const& carried) {
    auto const count = int(blocks.size());
    std::map<BufferId, int> writer;
    for (int b = 0; b < count; ++b)
        if (blocks[b].target >= 0) writer[blocks[b].target] = b;
    std::vector<Reads> reads;
    for (auto const& b : blocks) reads.push_back(reads_of(f, b));
    Graph graph{std::vector<std::set<int>>(blocks.size())};
    for (int b = 0; b < count; ++b) {
        if (b >= int(loads))
            for (int l = 0; l < int(loads); ++l) graph.after[b].insert(l);
        for (auto const& [r, in_place] : reads[b])
            if (auto const w = writer.find(r); w != writer.end() && w->second != b) graph.after[b].insert(w->second);
    }

    std::vector<std::pair<BufferId, BufferId>> renamed;
    std::vector<Carried> copies;
    for (auto const& c : carried) {
        auto const w = writer.find(c.computed);
        bool in_place = c.computed >= 0 && w != writer.end();
        if (in_place) {
            auto const own = reads[w->second].find(c.own);
            in_place = same_extents(f, c.own, c.computed) && (own == reads[w->second].end() || own->second);
        }
        for (int b = 0; b < count && in_place; ++b)
            in_place = b == w->second || !reads[b].count(c.own) || !graph.reaches(w->second, b);
        if (!in_place) {
            copies.push_back(c);
            continue;
        }
        for (int b = 0; b < count; ++b)
            if (b != w->second && reads[b].count(c.own)) graph.after[w->second].insert(b);
        renamed.emplace_back(c.computed, c.own);
        writer.erase(w);
    }
    for (auto const& [from, to] : renamed) {
        auto const& old = f.buffers[from].name;
        for (auto& b : blocks) {
            rename(b, from, to);
            if (b.target != to) continue;
            auto& comment = b.statements[0].comment;
            if (comment.rfind(old + " = ", 0) == 0 || comment.rfind(old + "^T = ", 0) == 0)
                comment.replace(0, old.size(), f.buffers[to].name);
        }
        for (auto& c : copies) rename(c.value, from, to);
    }
    for (int b = 0; b < count; ++b) reads[b] = reads_of(f, blocks[b]);

    auto const order = sorted(blocks, graph);
    std::set<BufferId> const given(f.parameters.begin(), f.parameters.end());
    std::map<BufferId, int> last;
    for (int p = 0; p < count; ++p)
        for (auto const& [r, in_place] : reads[order[p]]) last[r] = p;
    for (auto const& c : copies) last[c.value.buffer] = count;

    std::vector<BufferId> unused; // memory that nobody reads any more, by its last name
    for (int p = 0; p < count; ++p) {
        auto& block = blocks[order[p]];
        auto const& its = reads[order[p]];
        auto const dies = [&](BufferId b) { return !given.count(b) && last[b] == p; };
        auto const at = f.body.size();
        BufferId place = -1;
        if (block.target >= 0 && !given.count(block.target)) {
            for (auto const& [r, in_place] : its)
                if (place < 0 && in_place && dies(r)) place = r;
            if (place < 0)
                if (auto const u = std::find_if(unused.begin(), unused.end(),
                                                [&](BufferId b) { return same_extents(f, b, block.target); });
                    u != unused.end()) {
                    place = *u;
                    unused.erase(u);
                }
            f.body.push_back(memory(place < 0 ? Statement::Kind::take : Statement::Kind::alias, block.target, place));
        }
        f.body.insert(f.body.end(), block.statements.begin(), block.statements.end());
        if (!block.statements.empty() && f.body.size() > at && f.body[at].comment.empty()) {
            auto const own = f.body.size() - block.statements.size();
            if (own != at) std::swap(f.body[at].comment, f.body[own].comment);
        }
        for (auto const& [r, in_place] : its)
            if (r != place && dies(r)) unused.push_back(r);
    }
    for (auto const& c : copies) f.body.push_back(call("copy", {argument(c.own), c.value}));
}

} // namespace deltaloom::codegen
