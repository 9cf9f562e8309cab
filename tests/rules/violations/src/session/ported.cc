#include "decode/search.h"
#include "decode/step_model.h"
#include <onnxruntime_cxx_api.h>
#include <protozero/pbf_reader.hpp>
