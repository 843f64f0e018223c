package jsonwire

// CheckBase64Any checks that s is base64 as [CheckBase64] does, but takes the
// standard or the URL-safe alphabet, not both, padded or not.
func CheckBase64Any(s string) Base64Error { return checkBase64Any(s) }
