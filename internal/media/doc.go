// Package media examines files: the encoding as base64, the media type of the leading
// bytes, and the headers of images.
package media
