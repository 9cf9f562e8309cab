#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <sys/stat.h>

#include "base/fail.h"
#include "sampan/error.h"
