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

func ExampleCheckFile() {
	file := &content.Base64{MediaType: "image/png", Data: "R0lGODlhDQAHAAAAAA=="}
	r := content.CheckFile(file, content.Base64Strict, content.Limits{FileBytes: 32 << 20})
	fmt.Printf("the file %v: it is %s\n", r.Violation, r.Actual)

	file.MediaType = "image/gif"
	r = content.CheckFile(file, content.Base64Strict, content.Limits{FileBytes: 32 << 20, ImageSide: 8000})
	fmt.Println(r.Violation == 0, r.Width, r.Height)
	// Output:
	// the file does not match its media type: it is image/gif
	// true 13 7
}

func ExampleBase64_DecodePrefix() {
	file := &content.Base64{MediaType: "application/pdf", Data: "JVBERi0xLjcKJcOkw7zDtsOf"}
	prefix := make([]byte, content.SniffLen)
	n, err := file.DecodePrefix(prefix)
	fmt.Println(content.DetectMediaType(prefix[:n]), err)
	// Output: application/pdf <nil>
}
