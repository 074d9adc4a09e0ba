// Package plugin has the files that Carrel installs for agents: the file of its skill, and its
// plug-in for OpenCode. Do not change the slices.
package plugin

import _ "embed"

// SkillName is the name of the skill, and of the folder that has to have its file SKILL.md.
const SkillName = "context-engine"

// Skill is the file SKILL.md of the skill, which says when an agent uses which tool.
//
//go:embed skills/context-engine/SKILL.md
var Skill []byte

// OpenCode is the plug-in for OpenCode, a file in JavaScript that calls "carrel hook".
//
//go:embed opencode/carrel.js
var OpenCode []byte
