#include "tensor/upward.h"

#include <vector>

#include "base/fail.h"
#include "graph/model.h"
#include "sampan/error.h"
#include "upward.h"
#  include <onnxruntime_cxx_api.h>
#include <mystery/thing.h>
