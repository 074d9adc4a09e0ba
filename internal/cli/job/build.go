package job

import (
	"cmp"
	"runtime"
	"runtime/debug"
)

// A BuildInfo describes the build of this program.
type BuildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ReadBuild returns the build of this program.
func ReadBuild() BuildInfo {
	b := BuildInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "(devel)" {
		b.Version = cmp.Or(v, b.Version)
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value[:min(12, len(s.Value))]
		}
	}
	return b
}
