// Package exam measures whether a window still tells what the work that follows needs:
// questions about conversations that were cut, asked of windows of the same size.
//
// # Exams
//
// An [Exam] is a file of JSON: sessions, each with the path of a conversation, how many of
// its lines the agent had seen, and questions, each with its answer and the strings without
// which it cannot be answered. [Session.Open] reads the conversation and refuses a question
// whose strings do not stand in it.
//
// # Windows
//
// A [Method] makes a window of what the agent had seen: a strategy of Carrel's engine, a
// simple method or a peer of package retention, or somebody's folder of texts. A window is
// compared as text ([Render]), and may have a share of the bytes of the whole text. Methods
// count in their own ways, so the target of each is moved until the bytes are filled.
//
// # By strings
//
// [Measure] looks strings up, without a model. It sees neither order nor roles nor false
// statements, and a good paraphrase counts for nothing.
//
// # By readers
//
// [Prepare] writes papers, a window and questions each, into a [Run], which is a folder.
// [Run.Ask] has a model that sees nothing else answer them. [Run.Sheets] lays all answers
// to a question side by side, under letters that are shuffled for each question, and
// [Run.Grade] has a second model grade them. [Run.Scores] adds the grades up. What is asked
// of whom are files of JSON, so any of them may be written by hand:
// doc/guide/exam.md has their shapes.
//
// # Determinism
//
// Equal files and options give equal windows, sheets and scores. Intervals hold 95 percent
// of 1,000 draws of questions, the same draws for all methods, in whole millionths. What a
// model says is its own, and is kept.
package exam
