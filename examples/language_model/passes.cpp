#include "passes.hpp"

namespace lm {

template struct Pass<float>;
template struct Pass<double>;
template void forward(Model const&, float const*, unsigned char const*, float const*, float*, Pass<float>&);
template void forward(Model const&, double const*, unsigned char const*, double const*, double*, Pass<double>&);
template void backward(Model const&, float const*, unsigned char const*, unsigned char const*, float const*, float,
                       Pass<float>&, float*);
template void backward(Model const&, double const*, unsigned char const*, unsigned char const*, double const*, double,
                       Pass<double>&, double*);

} // namespace lm
