#pragma once

#include "checkpoint/checkpoint.h"
#include "package/manifest.h"

namespace sampan::exporter {

/// Where a checkpoint came from: in a model hub's cache (`models--ORG--NAME/snapshots/REVISION`)
/// the repository and its commit, elsewhere the folder's name and the commit that the hub's client
/// or git noted in it; and the SHA-256 of every file that was read. Throws `Error` as reading the
/// files does.
package::Source origin_of(const checkpoint::Checkpoint& checkpoint);

}  // namespace sampan::exporter
