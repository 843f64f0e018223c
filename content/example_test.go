package content_test

import (
	"fmt"

	"github.com/polywire/polywire/content"
)

func ExampleDetectMediaType() {
	fmt.Printf("%q\n", content.DetectMediaType([]byte("GIF89a\x0d\x00")))
	fmt.Printf("%q\n", content.DetectMediaType([]byte("hello")))
	// Output:
	// "image/gif"
	// ""
}

func ExampleBase64_DecodePrefix() {
	file := &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjcKJcOkw7zDtsOf"}
	prefix := make([]byte, content.SniffLen)
	n, err := file.DecodePrefix(prefix)
	fmt.Println(content.DetectMediaType(prefix[:n]), err)
	// Output: application/pdf <nil>
}
