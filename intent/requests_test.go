package intent

import "testing"

// Each way to ask for something with one prompt and the expected intent, labeled by hand.
func TestRequests(t *testing.T) {
	for prompt, want := range map[string]string{
		// Choices.
		"Is tea better than coffee?":                      `decide options="tea better than coffee"`,
		"Is Postgres better than MySQL for a small team?": `decide options="Postgres better than MySQL" context="a small team"`,
		"Which is better, tabs or spaces?":                `decide options="tabs or spaces"`,
		"Choose a name for my dog":                        `decide options="a name" context="my dog"`,
		"Pick one of the three lamps":                     `decide options="the three lamps"`,
		"Should I buy or rent?":                           `decide options="buy or rent"`,
		"Should we use tabs instead of spaces?":           `decide options="use tabs instead of spaces"`,
		"Decide between tea and coffee":                   `decide options="tea and coffee"`,
		"Recommend a book about Rome":                     `decide options="a book about Rome"`,
		"Who should lead the team, Ann or Bob?":           `decide options="lead the team, Ann or Bob"`,

		// Plans.
		"How do I break the migration down?":            `plan goal="break the migration down"`,
		"Break the project down into tasks":             `plan goal="the project"`,
		"Help me with the taxes":                        `plan goal="the taxes"`,
		"Plan a trip to Rome in May for two people":     `plan goal="a trip to Rome in May for two people"`,
		"Plan a party with 20 guests under 500 dollars": `plan goal="a party with 20 guests" constraints="under 500 dollars"`,
		"Plan the migration from MySQL to Postgres":     `plan goal="the migration from MySQL to Postgres"`,
		"Make a plan for the launch without downtime":   `plan goal="the launch" constraints="without downtime"`,
		"Create a schedule for my exams by Friday":      `plan goal="my exams" constraints="by Friday"`,
		"Give me a roadmap for the next quarter":        `plan goal="the next quarter"`,
		"Organize my week":                              `plan goal="my week"`,
		"Schedule a meeting with Ann on Friday":         `plan goal="a meeting with Ann on Friday"`,
		"How do I get to Rome?":                         `plan goal="get to Rome"`,
		"What is the best way to learn Go?":             `plan goal="learn Go"`,

		// Explanations.
		"Explain to my grandmother how DNS works":    `explain target="how DNS works" audience="my grandmother"`,
		"Explain to me why the build fails":          `explain target="why the build fails"`,
		"Explain briefly how DNS works":              `explain target="how DNS works" depth="briefly"`,
		"Explain DNS in simple terms":                `explain target="DNS" depth="in simple terms"`,
		"Explain DNS step by step":                   `explain target="DNS" depth="step by step"`,
		"Explain quantum computing to a child":       `explain target="quantum computing" audience="a child"`,
		"Explain the difference between TCP and UDP": `explain target="the difference between TCP and UDP"`,
		"Who is Ada Lovelace?":                       `explain target="Ada Lovelace"`,
		"Help me understand monads":                  `explain target="monads"`,
		"Help me to grasp monads":                    `explain target="monads"`,
		"Walk me through the code":                   `explain target="the code"`,
		"Tell me about Rome":                         `explain target="Rome"`,
		"Describe the water cycle":                   `explain target="the water cycle"`,
		"Clarify the second paragraph":               `explain target="the second paragraph"`,
		"What is entropy?":                           `explain target="entropy"`,
		"What are monads in Haskell?":                `explain target="monads" context="Haskell"`,
		"Why do cats purr?":                          `explain target="cats purr"`,
		"How does DNS work?":                         `explain target="DNS"`,
		"Where is Rome?":                             `explain target="Rome"`,
		"Can you explain DNS?":                       `explain target="DNS"`,

		// Changes of a form.
		"Replace tabs with spaces":                       `transform source="tabs" target-form="spaces"`,
		"Put the names in a table":                       `transform source="the names" target-form="a table"`,
		"Put the names under a heading":                  `transform source="the names" target-form="a heading"`,
		"Make the report into a poem":                    `transform source="the report" target-form="a poem"`,
		"Make the intro sound friendly":                  `transform source="the intro" target-form="friendly" constraints="friendly"`,
		"Make the text look professional":                `transform source="the text" target-form="professional" constraints="professional"`,
		"Give me the same text as a list":                `transform source="the same text" target-form="a list"`,
		"Rewrite the text in French":                     `transform source="the text" target-form="French"`,
		"Rewrite the chapter in my book":                 `transform source="the chapter in my book" gap=target-form`,
		"Translate this into German":                     `transform target-form="German" gap=source`,
		"Translate the letter into French and German":    `transform source="the letter" target-form="French and German"`,
		"Port the script to Python":                      `transform source="the script" target-form="Python"`,
		"Write a 200-word summary of the article":        `transform source="the article" target-form="a 200-word summary"`,
		"Summarize the article in three bullets":         `transform source="the article" target-form="three bullets"`,
		"I'd like a summary of the report":               `transform source="the report" target-form="a summary"`,
		"Convert the file to JSON":                       `transform source="the file" target-form="JSON"`,
		"Convert the CSV file into JSON without headers": `transform source="the CSV file" target-form="JSON" constraints="without headers"`,
		"Turn the notes into an email to my boss":        `transform source="the notes" target-form="an email to my boss"`,
		"Shorten the text to 100 words":                  `transform source="the text" target-form="100 words"`,

		// Repairs.
		"Why is my parser slow?":                       `fix target="my parser" symptoms="slow"`,
		"Why are my tests so slow?":                    `fix target="my tests" symptoms="slow"`,
		"Why was my build broken yesterday?":           `fix target="my build" symptoms="broken yesterday"`,
		"Make the tests pass":                          `fix target="the tests"`,
		"Get the build green again":                    `fix target="the build"`,
		"Get the login working again":                  `fix target="the login"`,
		"The lamp stopped working":                     `fix target="The lamp" symptoms="stopped working"`,
		"The build stopped working after the update":   `fix target="The build" symptoms="stopped working" context="after the update"`,
		"The printer is broken. Help me.":              `fix target="The printer" symptoms="is broken"`,
		"My code throws an error when I save. Fix it.": `fix target="My code" symptoms="throws an error" context="when I save"`,

		"It crashes":                                  `fix symptoms="crashes" gap=target`,
		"Something is wrong with the build":           `fix target="the build"`,
		"The tests are failing on CI since yesterday": `fix target="The tests" symptoms="failing" context="CI since yesterday"`,
		"Debug the crash on start":                    `fix symptoms="crash on start" gap=target`,
		"Stop the server from crashing":               `fix target="the server" symptoms="crashing"`,
		"My laptop won't start":                       `fix target="My laptop" symptoms="won't start"`,
		"The app freezes after login, only on iOS":    `fix target="The app" symptoms="freezes" context="after login"`,
		"npm install fails with EACCES":               `fix target="npm install" symptoms="fails" context="EACCES"`,
		"Resolve the merge conflict":                  `fix target="the merge conflict"`,
		"Correct the spelling in my essay":            `fix target="the spelling in my essay"`,
		"Could you please fix the build?":             `fix target="the build"`,
		"Fix the bug and write a test for it":         `fix target="the bug" + create`,
		"Fix ./main.go please":                        `fix target="./main.go"`,
		"Fix the typo in ../cmd/main.go":              `fix target="the typo in ../cmd/main.go"`,

		// Judgements.
		"What does the log tell us?":                       `analyze target="the log"`,
		"What does this test suggest?":                     `analyze target="this test"`,
		"Are the tests fast?":                              `analyze target="the tests" criteria="fast"`,
		"Is the code readable?":                            `analyze target="the code" criteria="readable"`,
		"Compare the two vendors by price and quality":     `analyze target="the two vendors" criteria="price and quality"`,
		"Analyze the logs for errors":                      `analyze target="the logs" criteria="errors"`,
		"Check the code for leaks":                         `analyze target="the code" criteria="leaks"`,
		"Please could you check my homework for mistakes?": `analyze target="my homework" criteria="mistakes"`,
		"Evaluate the proposal against our goals":          `analyze target="the proposal" criteria="our goals"`,
		"Rank the three options by cost":                   `analyze target="the three options" criteria="cost"`,
		"Investigate the memory leak":                      `analyze target="the memory leak"`,

		// Things to make.
		"Write a concise memo":                                    `create artifact="memo" style="concise"`,
		"Write formal letter to my boss":                          `create artifact="letter" audience="my boss" style="formal"`,
		"Write a poem about the sea in the style of Keats":        `create artifact="a poem" topic="the sea" style="the style of Keats"`,
		"Write an essay about Rome for students in a formal tone": `create artifact="an essay" topic="Rome" audience="students" style="formal tone"`,
		"Write a story about a dog. Make it funny.":               `create artifact="a story" topic="a dog" style="funny"`,
		"Draft an email to Ann about the delay":                   `create artifact="an email" topic="the delay" audience="Ann"`,
		"Make me a sandwich":                                      `create artifact="a sandwich"`,
		"Tell me a joke":                                          `create artifact="a joke"`,
		"Suggest a name for a cat":                                `create artifact="a name" topic="a cat"`,
		"I want you to write a poem":                              `create artifact="a poem"`,
		"I need a poem about rain":                                `create artifact="a poem" topic="rain"`,
		"Write unit tests for the parser":                         `create artifact="unit tests" topic="the parser"`,
		"First write a poem, then translate it into French":       `create artifact="a poem" + transform`,
	} {
		if got := show(Compile(prompt, nil)); got != want {
			t.Errorf("%q is\n%s, want\n%s", prompt, got, want)
		}
	}
}
