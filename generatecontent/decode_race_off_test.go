//go:build !race

package generatecontent

const poolsForget = false
