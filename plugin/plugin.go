// Package plugin has what the plug-in for agents brings along besides its own settings, for
// programs that put it where an agent looks for it.
package plugin

import _ "embed"

// SkillName is the name of the skill, and of the folder that it has to be in.
const SkillName = "context-engine"

// Skill is the file SKILL.md of the skill, which says when an agent uses which tool.
//
//go:embed skills/context-engine/SKILL.md
var Skill []byte

// OpenCode is the plug-in for OpenCode, a file in JavaScript that calls "carrel hook".
//
//go:embed opencode/carrel.js
var OpenCode []byte
