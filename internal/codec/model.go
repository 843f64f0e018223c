package codec

// MaxModelName is how many bytes a model name may have in a request.
const MaxModelName = 1024
