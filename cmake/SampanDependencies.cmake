# Everything comes from installed packages; nothing is fetched while configuring.
find_package(fmt REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OnnxRuntime REQUIRED)
find_package(SentencePiece REQUIRED)
