package admin

import (
	"bytes"
	"path/filepath"

	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/plugin"
	"github.com/carrel-dev/carrel/transcript"
)

// skillPiece returns the skill as a piece in a client's folder of skills.
func skillPiece(skills string) piece {
	return piece{mode: modeMCP, path: filepath.Join(skills, plugin.SkillName, "SKILL.md"), part: skillPart(), alone: true}
}

// skillPart returns the file of the skill. It replaces an older skill of Carrel, and fails if the
// file is not Carrel's.
func skillPart() setupPart {
	return setupPart{
		with: func(file string, data []byte) ([]byte, error) {
			if len(bytes.TrimSpace(data)) > 0 && !ourSkill(data) {
				return nil, out.Hinted(&transcript.SyntaxError{Name: file, Text: "setup did not write this skill and does not replace it"}, "rename it, with its folder; or set up without the skill: --mode hooks")
			}
			return plugin.Skill, nil
		},
		without: func(_ string, data []byte) ([]byte, error) {
			if ourSkill(data) {
				return nil, nil
			}
			return data, nil
		},
	}
}

// ourSkill reports whether a file is Carrel's skill, of any version.
func ourSkill(data []byte) bool {
	return bytes.HasPrefix(data, []byte("---\nname: "+plugin.SkillName+"\n")) && bytes.Contains(data, []byte("Carrel"))
}
