#pragma once

// Marks what the shared library exports; everything else is built hidden.
#define SAMPAN_API __attribute__((visibility("default")))
