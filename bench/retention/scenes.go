package main

// A scene is something that happens to a speaker and that the two talk about. It is
// told by templates:
//
//	{A} {B}    the name of the one it happens to, and of the other
//	{person}   somebody they know
//	{when}     "last Saturday" and the like
//	{thing}    a value of the slot of that name: in what is said its first form, in
//	           what is asked its second, if it has two ("a puppy|dog")
//
// Where a scene comes about several times in a dialog, the value of its first slot
// is another each time.
type scene struct {
	slots []slot
	tells [][]string // ways to tell it; see below
	asks  []ask
	all   string // asks for everything of the kind that happened to somebody: fact 1 of each
}

// A telling is a list of turns. A turn begins with who says it, a or b, and with the
// number of the fact that it is the evidence of, if it is of one: "a1 I did it."

// A slot is a name and the values that it can have, separated by semicolons.
type slot struct{ name, values string }

// An ask is a question in several forms, of which one is chosen, about some facts.
type ask struct {
	kind   category
	facts  string
	forms  []string
	answer string // as it is said
}

var scenes = []scene{
	{ // a class
		slots: []slot{
			{"craft", "pottery|ceramics; kayaking|kayak; salsa dancing|salsa; woodworking; archery; watercolor painting|watercolors; sign language; beekeeping|keeping bees"},
			{"place", "community center; old library; youth club; adult school"},
			{"drill", "do the same move over and over; start with the tools and nothing else; work in pairs; begin with our eyes closed"},
		},
		tells: [][]string{
			{
				"a1 Guess what, I signed up for a {craft} class at the {place} {when}! I have wanted to do this for years.",
				"b Oh nice, {A}! A {craft} class sounds like so much fun. How was the first lesson?",
				"a2 Harder than I thought. {person} runs it and made us {drill}. My arms still hurt.",
				"b Ha, I can imagine. You will be a pro before long!",
			},
			{
				"b You look happy, {A}. What have you been up to?",
				"a1 I started taking lessons in {craft}. My first one was {when}, over at the {place}.",
				"b No way! Who teaches it?",
				"a2 Somebody called {person}, very patient. We had to {drill}, which took the whole evening.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"Who teaches the {craft} course that {A} takes?", "Who is {A}'s {craft} instructor?", "Who ran {A}'s {craft} class?"}, "{person}"},
			{temporal, "1", []string{"When did {A} sign up for {craft}?", "When did {A} begin {craft} lessons?", "When did {A} enroll in a {craft} course?"}, "{when}"},
			{singleHop, "1", []string{"Where does {A} learn {craft}?", "Where are {A}'s {craft} lessons held?"}, "{place}"},
		},
		all: "Which classes has {A} taken up?",
	},
	{ // a pet
		slots: []slot{
			{"pet", "a puppy|dog; a kitten|cat; two rabbits|rabbits; a parrot|bird; a tortoise; a hedgehog; a ferret"},
			{"name", "Biscuit; Pepper; Waffles; Comet; Nugget; Olive; Pickle; Domino"},
			{"habit", "chews on my slippers; sleeps in the sink; steals socks from the basket; hides behind the curtains"},
		},
		tells: [][]string{
			{
				"a1 Big news, {B}: we adopted {pet} from the shelter {when}. The whole house is upside down.",
				"b Aww, that is adorable, {A}! What is the name?",
				"a2 {name}! It was my niece's idea and it stuck right away.",
				"b Cute! Any trouble so far?",
				"a3 Only that the little monster {habit}. I cannot be mad though.",
			},
			{
				"a1 {when} I came home with {pet}. I did not plan it, it just happened at the shelter.",
				"b You are kidding! I am so jealous, {A}. Does it have a name yet?",
				"a2 We went with {name}. Fits perfectly if you ask me.",
				"b Haha, I love that. And everything calm at night?",
				"a3 Not at all! It {habit} as soon as I turn off the lights.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What is the name of {A}'s {pet}?", "What did {A} call the {pet}?", "How did {A} name the new {pet}?"}, "{name}"},
			{temporal, "1", []string{"When did {A} adopt the {pet}?", "When did {A} get the {pet} from the shelter?", "When did {A} bring the {pet} home?"}, "{when}"},
			{singleHop, "3", []string{"What mischief does {name} get up to?", "What does {A}'s pet {name} do that is naughty?", "What bad habit does {A}'s {pet} have?"}, "{habit}"},
			{openEnded, "1", []string{"Would {A} be likely to buy leather furniture soon?", "Would {A} say yes to an apartment that allows no animals?"}, "no"},
		},
		all: "What pets does {A} have?",
	},
	{ // a trip
		slots: []slot{
			{"city", "Lisbon; Kyoto; Montreal; Oslo; Marrakesh; Cusco; Edinburgh; Hanoi; Tallinn"},
			{"sight", "a tiny museum full of clocks|clock museum; an old tram that climbs the hill|tram ride; a market by the river|riverside market; a garden behind a temple|temple garden"},
			{"food", "grilled sardines; a spicy noodle soup|noodle soup; cinnamon buns; a lamb stew|stew"},
		},
		tells: [][]string{
			{
				"a1 I just got back from {city}! We flew there {when} and stayed for five days.",
				"b Wow, {city}! I have always wanted to go there. What was the best part?",
				"a2 For me it was {sight}. We went twice because {person} could not get enough of it.",
				"b That sounds magical, {A}. And the food?",
				"a3 Oh, I ate {food} nearly every day. I still dream of it.",
			},
			{
				"b How was your vacation, {A}?",
				"a1 So good! {person} and I went to {city} {when}. I took about a thousand pictures.",
				"b Nice, I bet {city} is beautiful. Any highlights?",
				"a2 We stumbled upon {sight} and spent a whole afternoon there.",
				"a3 And I could not stop eating {food}.",
			},
		},
		asks: []ask{
			{temporal, "1", []string{"When did {A} go to {city}?", "When did {A} travel to {city}?", "When was {A}'s trip to {city}?"}, "{when}"},
			{singleHop, "2", []string{"What did {A} like most in {city}?", "Which sight in {city} was {A}'s favorite?", "What did {A} see in {city}?"}, "{sight}"},
			{singleHop, "3", []string{"What did {A} eat in {city}?", "What dish did {A} enjoy in {city}?", "Which food did {A} try on the trip to {city}?"}, "{food}"},
			{multiHop, "12", []string{"With whom did {A} visit {city}, and what did they see?", "Who came along to {city} and what did {A} find there?"}, "{person}"},
		},
		all: "Which cities has {A} traveled to?",
	},
	{ // a race
		slots: []slot{
			{"race", "half marathon; charity run|charity race; triathlon; trail race; bike race|cycling race; swim across the lake|lake swim; night run"},
			{"cause", "the children's hospital; clean rivers; the animal shelter; the food bank"},
			{"result", "came in ninth; missed my best time by a minute; finished before the rain; beat my brother"},
		},
		tells: [][]string{
			{
				"a1 My legs are dead, {B}. I ran the {race} {when} and it was brutal.",
				"b Whoa, congrats on the {race}, {A}! I am so proud of you. How did it go?",
				"a2 Better than I hoped! I {result}, and we raised money for {cause} as well.",
				"b That is amazing. You really pushed yourself.",
			},
			{
				"a1 So the {race} finally took place {when}. I was nervous for weeks, you know me.",
				"b I remember! Well, did you make it?",
				"a2 I did! I {result}. All the fees went to {cause}, which made it even better.",
				"b Way to go, {A}!",
			},
		},
		asks: []ask{
			{temporal, "1", []string{"When did {A} run the {race}?", "When did {A} take part in the {race}?", "When was the {race} that {A} entered?"}, "{when}"},
			{singleHop, "2", []string{"How did {A} do in the {race}?", "What was {A}'s result in the {race}?", "How did the {race} turn out for {A}?"}, "{result}"},
			{singleHop, "2", []string{"What cause did {A}'s {race} raise money for?", "Who received the money of {A}'s {race}?", "Which charity did the {race} of {A} support?"}, "{cause}"},
		},
		all: "In which competitions has {A} taken part?",
	},
	{ // a job
		slots: []slot{
			{"job", "a nurse; a bookbinder; a park ranger|ranger; a pastry chef|baker; a translator; a bus driver; a lab technician"},
			{"employer", "the university clinic; a small shop on Mill Street; the county; a family business downtown"},
			{"worry", "the early shifts; the paperwork; my new boss; the long commute"},
		},
		tells: [][]string{
			{
				"a1 I did it, {B}! {when} I got the offer, I am going to work as {job}.",
				"b Congratulations, {A}! {job}, that suits you so well. Where is it?",
				"a2 At {employer}. I start in three weeks and I cannot wait.",
				"b You deserve it. Are you nervous at all?",
				"a3 A bit, to be honest. What scares me most is {worry}.",
			},
			{
				"b Any word about your applications?",
				"a1 Yes! I was hired as {job} {when}. I screamed so loud that the neighbors knocked.",
				"b That is wonderful news, {A}, I knew it!",
				"a2 Thank you! It is with {employer}, so I do not even have to move.",
				"a3 I only dread {worry}, everything else is perfect.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"Where will {A} work as a {job}?", "Who hired {A} as a {job}?", "Who is {A}'s employer in the position of {job}?"}, "{employer}"},
			{singleHop, "3", []string{"What is {A} afraid of in the new job as a {job}?", "What worries {A} about being a {job}?", "What does {A} dread about working as a {job}?"}, "{worry}"},
			{temporal, "1", []string{"When did {A} get the offer to work as a {job}?", "When was {A} hired as a {job}?"}, "{when}"},
			{openEnded, "12", []string{"Is {A} likely to be looking for employment at the moment?", "Would {A} have a steady income now?"}, "no; yes"},
		},
		all: "What jobs has {A} been offered?",
	},
	{ // an injury
		slots: []slot{
			{"part", "ankle; wrist; shoulder; knee; thumb; elbow; collarbone"},
			{"cause", "slipped on the icy steps; fell off a ladder; tripped over the garden hose; landed badly after a jump"},
			{"cure", "swim every morning; wear a brace for a month; see a therapist on Mondays; do stretches twice a day"},
		},
		tells: [][]string{
			{
				"a1 Not my best week, {B}. I broke my {part} {when}.",
				"b Oh no, {A}! What happened?",
				"a2 I {cause}. So silly, I was not paying attention for one second.",
				"b I am so sorry. What does the doctor say?",
				"a3 I have to {cure}, and no lifting until then.",
			},
			{
				"a1 I was at the emergency room {when} because of my {part}. It hurt like crazy.",
				"b Ouch! Poor you, {A}. How did you manage that?",
				"a2 Believe it or not, I {cause}.",
				"a3 Now they want me to {cure} until it heals.",
				"b Take it easy and get well soon!",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"How did {A} hurt the {part}?", "What caused {A}'s {part} injury?", "How did {A} break the {part}?"}, "{cause}"},
			{singleHop, "3", []string{"What must {A} do for the {part} to heal?", "What treatment does {A} have for the injured {part}?", "What did the doctor tell {A} to do about the {part}?"}, "{cure}"},
			{temporal, "1", []string{"When did {A} break the {part}?", "When did {A} injure the {part}?", "When was {A} in the hospital with the {part}?"}, "{when}"},
			{openEnded, "13", []string{"Could {A} help somebody move a piano these days?", "Would {A} be fit for a climbing weekend?"}, "no"},
		},
		all: "Which injuries has {A} had?",
	},
	{ // a book
		slots: []slot{
			{"book", "The Salt Road; A Winter of Foxes; Letters to Nobody; The Glass Orchard; Seven Small Rooms; The Cartographer's Son; Thunder Over Maine"},
			{"theme", "two sisters who inherit a lighthouse; a village that forgets its own name; a doctor in a besieged town; a boy who draws maps of dreams"},
			{"feeling", "cried at the end; could not put it down; read it twice in a row; had to look up half of the words"},
		},
		tells: [][]string{
			{
				"a1 I finished \"{book}\" {when}. Have you heard of it?",
				"b I don't think so, {A}. What is it about?",
				"a2 It is about {theme}. I {feeling}, and that hardly ever happens to me.",
				"b Sounds great, I will put it on my list. Who told you about it?",
				"a3 {person} gave it to me, we swap novels all the time.",
			},
			{
				"b Read anything good lately, {A}?",
				"a1 Yes, \"{book}\"! I began it {when} on the train.",
				"b What's the story?",
				"a2 It tells of {theme}. I {feeling}.",
				"a3 It was {person} who lent it to me, by the way.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What is \"{book}\" about, which {A} read?", "What is the plot of {A}'s book \"{book}\"?", "What story does \"{book}\" tell?"}, "{theme}"},
			{singleHop, "3", []string{"Who gave {A} the book \"{book}\"?", "Who recommended \"{book}\" to {A}?", "From whom did {A} borrow \"{book}\"?"}, "{person}"},
			{temporal, "1", []string{"When did {A} read \"{book}\"?", "When did {A} have \"{book}\" in hand?"}, "{when}"},
			{openEnded, "2", []string{"Was {A} moved by \"{book}\"?", "Did {A} think highly of \"{book}\"?"}, "yes"},
		},
		all: "Which books has {A} read?",
	},
	{ // something made
		slots: []slot{
			{"piece", "a quilt; a bookshelf; a birdhouse; a ceramic lamp|lamp; a wool sweater|sweater; a canoe; a stained glass window|window"},
			{"for", "my grandmother's birthday|grandmother; my nephew's room|nephew; the school auction|auction; the new porch|porch"},
			{"trouble", "the color came out wrong; I ran out of material; it would not fit through the door; I cut one side too short"},
		},
		tells: [][]string{
			{
				"a1 Look, I finally finished {piece}! I made it for {for} and handed it over {when}. [photo]",
				"b Wow, {A}, you made that yourself? It is gorgeous!",
				"a2 Thanks! You should have seen it before, though. At first {trouble} and I nearly gave up.",
				"b I am glad you did not. You are so talented.",
			},
			{
				"b How is your project going?",
				"a1 Done! {when} I put the last touches to {piece}. It is meant for {for}. [photo]",
				"b It looks so good, {A}! Was it difficult?",
				"a2 There was one bad moment when {trouble}. {person} helped me to fix that.",
			},
		},
		asks: []ask{
			{singleHop, "1", []string{"What did {A} make the {piece} for?", "For whom or what did {A} build the {piece}?", "Who or what was the {piece} by {A} meant for?"}, "{for}"},
			{singleHop, "2", []string{"What went wrong when {A} made the {piece}?", "What difficulty did {A} have with the {piece}?", "What problem did {A} run into making the {piece}?"}, "{trouble}"},
			{temporal, "1", []string{"When did {A} finish the {piece}?", "When did {A} complete the {piece}?", "When was {A} done with the {piece}?"}, "{when}"},
		},
		all: "What things has {A} made by hand?",
	},
	{ // a relative's visit
		slots: []slot{
			{"relative", "my aunt|aunt; my twin brother|brother; my grandfather|grandfather; my cousin|cousin; my mother-in-law|mother-in-law; my stepdad|stepfather"},
			{"from", "Denver; a farm up north; the coast; Argentina; Rotterdam"},
			{"did", "baked bread together; went through all the old photographs; repaired the fence; sang karaoke until midnight; watched the meteor shower"},
		},
		tells: [][]string{
			{
				"a1 We had a visitor, {B}: {relative} came over from {from} {when}.",
				"b Lovely, {A}! You two are close, aren't you? What did you do?",
				"a2 Mostly we talked, and then we {did}. I had not laughed like that in ages.",
				"b Aww, family time is the best.",
			},
			{
				"a1 Sorry that I was quiet. {relative} was here {when}, all the way from {from}.",
				"b No worries! I hope you two had a good time.",
				"a2 The best. We {did}, and nobody looked at a phone even once.",
				"b I love that so much.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What did {A} do with the {relative} who visited?", "What did {A} and the {relative} do together?", "How did {A} and the {relative} spend their time?"}, "{did}"},
			{singleHop, "1", []string{"Where does {A}'s {relative} live?", "Where did {A}'s {relative} come from?"}, "{from}"},
			{temporal, "1", []string{"When did the {relative} visit {A}?", "When did {A}'s {relative} come?", "When was {A}'s {relative} there?"}, "{when}"},
		},
		all: "Which relatives have visited {A}?",
	},
	{ // moving house
		slots: []slot{
			{"home", "an apartment over a bakery|apartment; a houseboat; a farmhouse; a loft by the station|loft; a cottage with a red door|cottage; a studio on the tenth floor|studio"},
			{"reason", "the rent went up; the stairs got too much for us; I wanted a garden; the neighbors were loud"},
			{"lost", "my record player; a box of letters; the good kettle; all of my winter coats"},
		},
		tells: [][]string{
			{
				"a1 It is official, we moved into {home} {when}!",
				"b Congratulations on the new place, {A}! Why did you leave the old one?",
				"a2 Well, {reason}, so we had been looking for a while.",
				"b Makes sense. Did everything arrive in one piece?",
				"a3 Nearly. The movers lost {lost} and I am still upset.",
			},
			{
				"a1 I am writing you from {home}, can you believe it? I got the keys {when}.",
				"b Finally, {A}! I know how long you have waited for this.",
				"a2 True. But when {reason}, there was no way around it any more.",
				"a3 The only sad thing is that I can't find {lost} anywhere.",
				"b It will turn up, it always does.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"Why did {A} move to the {home}?", "What made {A} leave for the {home}?", "What was the reason for {A}'s move to the {home}?"}, "{reason}"},
			{singleHop, "3", []string{"What did {A} lose when moving to the {home}?", "What went missing in {A}'s move to the {home}?", "What has {A} not found since moving into the {home}?"}, "{lost}"},
			{temporal, "1", []string{"When did {A} move into the {home}?", "When did {A} get the keys to the {home}?", "Since when does {A} live in the {home}?"}, "{when}"},
		},
		all: "In which homes has {A} lived?",
	},
	{ // a concert
		slots: []slot{
			{"band", "the Paper Lanterns; Velvet Harbor; Juniper Sky; the Tin Soldiers; Moon Cartel; Lucia Ferrand; the Ninth Avenue Choir"},
			{"place", "in the botanical garden; at the old brewery; in a church; on a boat"},
			{"moment", "the singer fell off the stage; the power went out and everybody sang; a stranger proposed to her boyfriend; they played my song twice"},
		},
		tells: [][]string{
			{
				"a1 {when} I saw {band} live! {person} had a spare ticket.",
				"b I am so jealous, {A}! {band} is my favorite. Where was the concert?",
				"a2 They played {place}, it was packed.",
				"b Tell me everything!",
				"a3 You won't believe it: {moment}. I have goosebumps just thinking of it.",
			},
			{
				"b You sound hoarse, {A}.",
				"a1 That is from shouting! {person} took me to see {band} {when}.",
				"a2 It was {place}, so the sound was quite special.",
				"a3 And in the middle of it {moment}. What a night.",
				"b Haha, I wish I had been there with you.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"Where did {A} see {band}?", "Where was the {band} concert that {A} went to?", "What was the venue when {A} heard {band}?"}, "{place}"},
			{singleHop, "3", []string{"What happened during the {band} concert?", "What was memorable about {A}'s evening with {band}?", "What surprised {A} at the {band} show?"}, "{moment}"},
			{temporal, "1", []string{"When did {A} see {band}?", "When was {A} at the {band} concert?", "When did {A} hear {band} live?"}, "{when}"},
			{singleHop, "1", []string{"Who went to see {band} with {A}?", "Who had a ticket for {band} for {A}?"}, "{person}"},
		},
		all: "Which musicians has {A} seen live?",
	},
	{ // a garden
		slots: []slot{
			{"plant", "tomatoes; sunflowers; blueberries; lavender; pumpkins; hops; sweet peas"},
			{"pest", "snails; a family of deer|deer; blackbirds; the neighbor's goat|goat"},
			{"use", "jam for the whole street|jam; little bags for the drawers|sachets; a soup for fifty people|soup; bouquets for the nursing home|bouquets"},
		},
		tells: [][]string{
			{
				"a1 I planted {plant} behind the house {when}. My hands are still dirty!",
				"b Lovely, {A}! I never had luck with {plant}. What will you do with all of it?",
				"a2 If it works out, I want to make {use}.",
				"b Count me in! Anything that could go wrong?",
				"a3 {pest}, as always. Last year they got nearly everything.",
			},
			{
				"a1 The garden keeps me sane. {when} I put {plant} in the ground, two long rows.",
				"b That will look great in a few months!",
				"a2 And it will give me {use}, that is the idea at least.",
				"a3 If only {pest} would leave me alone. I put up a net this time.",
				"b Good luck with that, {A}.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What does {A} want to make from the {plant}?", "What are {A}'s {plant} going to be used for?", "What will {A} do with the {plant}?"}, "{use}"},
			{singleHop, "3", []string{"What threatens {A}'s {plant}?", "Which animals eat {A}'s {plant}?", "What pest does {A} have trouble with among the {plant}?"}, "{pest}"},
			{temporal, "1", []string{"When did {A} plant {plant}?", "When did {A} put {plant} in the garden?", "When did {A} sow {plant}?"}, "{when}"},
		},
		all: "What has {A} planted?",
	},
	{ // volunteering
		slots: []slot{
			{"service", "the soup kitchen; the night shelter; the reading club for kids|reading club; the repair cafe; the crisis line; the beach cleanup|beach"},
			{"duty", "wash dishes; listen and take notes; drive the van; sort donations; fix toasters"},
			{"reason", "they once helped my dad; I have too much free time; a poster caught my eye; I needed to get out of my head"},
		},
		tells: [][]string{
			{
				"a1 {when} I did my first shift at {service} as a volunteer.",
				"b That is so kind of you, {A}! What do they have you do?",
				"a2 Mostly I {duty}. It is simple, but it feels right.",
				"b The world needs more people like you. What got you into it?",
				"a3 Honestly, {reason}. I should have started long ago.",
			},
			{
				"b What's new with you, {A}?",
				"a1 I help out at {service} now. It started {when}.",
				"b Oh wow, good for you! And how come?",
				"a3 It is simple: {reason}.",
				"a2 So now I {duty} once a week and meet the nicest people.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What does {A} do at {service}?", "What is {A}'s task at {service}?", "What are {A}'s duties as a volunteer at {service}?"}, "{duty}"},
			{singleHop, "3", []string{"Why does {A} volunteer at {service}?", "Why did {A} join {service}?", "What was {A}'s motivation to help at {service}?"}, "{reason}"},
			{temporal, "1", []string{"When did {A} start at {service}?", "When did {A} begin volunteering at {service}?", "When was {A}'s first shift at {service}?"}, "{when}"},
			{openEnded, "1", []string{"Would {A} be considered a selfish person?", "Does {A} care for the community?"}, "no; yes"},
		},
		all: "Where has {A} volunteered?",
	},
	{ // a broken thing
		slots: []slot{
			{"machine", "car; dishwasher; laptop; furnace; washing machine; camera; scooter"},
			{"symptom", "smoke came out of it; it made a grinding noise; nothing happened when I pushed the button; water ran all over the floor"},
			{"price", "two hundred dollars; ninety dollars; four hundred and fifty dollars; more than it was worth"},
		},
		tells: [][]string{
			{
				"a1 Of course my {machine} had to break down {when}, on the worst day.",
				"b Oh no, {A}, not the {machine}! What was wrong with it?",
				"a2 I have no idea, {symptom} and that was that.",
				"b So annoying. Could they repair it?",
				"a3 Yes, {person} took care of it, but I paid {price}.",
			},
			{
				"a2 So I come home, and {symptom}. I just stood there.",
				"b What? Which one, the old {machine}?",
				"a1 Yes, the {machine}. It died {when} without any warning.",
				"a3 {person} fixed it for {price}. I could have cried.",
				"b Things like that always come at the wrong time.",
			},
		},
		asks: []ask{
			{singleHop, "3", []string{"How much did {A} pay for the repair of the {machine}?", "What did it cost {A} to have the {machine} fixed?", "How expensive was {A}'s {machine} repair?"}, "{price}"},
			{singleHop, "3", []string{"Who repaired {A}'s {machine}?", "Who fixed the {machine} for {A}?"}, "{person}"},
			{singleHop, "2", []string{"What was the matter with {A}'s {machine}?", "How did {A} notice that the {machine} was broken?", "What happened to the {machine} of {A}?"}, "{symptom}"},
			{temporal, "1", []string{"When did {A}'s {machine} break down?", "When did {A} have trouble with the {machine}?", "When did the {machine} of {A} stop working?"}, "{when}"},
		},
		all: "What has broken down at {A}'s place?",
	},
	{ // a party
		slots: []slot{
			{"party", "a surprise party for {person}|surprise party; a housewarming; a costume party; my sister's engagement party|engagement party; a farewell dinner for {person}|farewell dinner; a baby shower"},
			{"dress", "a pirate; a walking cactus|cactus; all in yellow; my dad's old suit"},
			{"dish", "a lasagna the size of a door|lasagna; thirty deviled eggs|eggs; a lemon cake|cake; a huge bowl of punch|punch"},
		},
		tells: [][]string{
			{
				"a1 We threw {party} {when}, and I am still cleaning up.",
				"b Haha, that sounds like a great party, {A}! What did you bring?",
				"a2 I brought {dish}. Gone within ten minutes!",
				"b Of course! And what did you wear?",
				"a3 I came as you would expect: {dress}. There are pictures, sadly.",
			},
			{
				"a1 What a night! There was {party} {when} and I danced until four.",
				"b I want details, {A}!",
				"a3 Imagine me like this: {dress}. People could not stop laughing.",
				"a2 And I spent the day before making {dish}.",
				"b You are the life of every party.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What did {A} bring to the {party}?", "What did {A} prepare for the {party}?", "Which food or drink did {A} take to the {party}?"}, "{dish}"},
			{singleHop, "3", []string{"What did {A} wear at the {party}?", "How was {A} dressed at the {party}?", "What was {A}'s outfit for the {party}?"}, "{dress}"},
			{temporal, "1", []string{"When was the {party} that {A} went to?", "When did the {party} of {A} take place?"}, "{when}"},
		},
		all: "Which parties has {A} been to?",
	},
	{ // an instrument
		slots: []slot{
			{"instrument", "cello; banjo; clarinet; accordion; harp; drums; trumpet"},
			{"years", "eleven years; since third grade; about six months; half of my life"},
			{"piece", "a waltz by my teacher|waltz; the song from that movie|movie song; a lullaby; some old sea shanties|sea shanties"},
		},
		tells: [][]string{
			{
				"b Is that a {instrument} case behind you, {A}?",
				"a1 It is! I picked up the {instrument} again {when}.",
				"b I had no idea that you play. For how long?",
				"a2 {years}, with breaks. I was never really good.",
				"a3 Right now I am learning {piece}, the cat runs away each time.",
			},
			{
				"a1 {when} I performed in front of people, me and my {instrument}. I was shaking.",
				"b Wow, brave! What did you play, {A}?",
				"a3 I did {piece}. They clapped for an awfully long time.",
				"b Amazing. You must have practiced a lot.",
				"a2 I have been playing for {years}, so it was about time.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"How long has {A} played the {instrument}?", "For how long has {A} been practicing the {instrument}?", "How experienced is {A} on the {instrument}?"}, "{years}"},
			{singleHop, "3", []string{"What does {A} play on the {instrument}?", "Which music is {A} learning on the {instrument}?", "What piece did {A} choose for the {instrument}?"}, "{piece}"},
			{temporal, "1", []string{"When did {A} play the {instrument}?", "When did {A} take out the {instrument}?"}, "{when}"},
			{openEnded, "13", []string{"Might {A} enjoy a ticket to a recital?", "Would {A} be happy about sheet music as a gift?"}, "yes"},
		},
		all: "Which instruments does {A} play?",
	},
	{ // outdoors
		slots: []slot{
			{"spot", "Eagle Ridge; Lake Amber; the Blue Canyon; Cape Sorrow; Bear Hollow; the Silver Falls; Mount Larkin"},
			{"animal", "a moose; two otters|otters; an owl; a black bear|bear; wild horses"},
			{"mishap", "forgot the tent poles; got lost for three hours; ran out of matches; woke up in a puddle"},
		},
		tells: [][]string{
			{
				"a1 We went camping at {spot} {when}. I needed the fresh air so badly.",
				"b Camping at {spot} sounds wonderful, {A}! Did you see any animals?",
				"a2 We did, {animal}, right next to the path at dawn!",
				"b Incredible! And everything went smoothly?",
				"a3 Not quite. We {mishap}, but now it makes a good story.",
			},
			{
				"b Where did that sunburn come from, {A}?",
				"a1 From hiking! {person} and I walked all around {spot} {when}.",
				"a3 I have to admit that we {mishap}. Typical.",
				"b Oh dear. But it was worth it?",
				"a2 Totally. There was {animal} a few steps away from us. I froze.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"Which animal did {A} see at {spot}?", "What wildlife did {A} meet at {spot}?", "What did {A} spot at {spot}?"}, "{animal}"},
			{singleHop, "3", []string{"What went wrong for {A} at {spot}?", "What mistake did {A} make at {spot}?", "What mishap did {A} have at {spot}?"}, "{mishap}"},
			{temporal, "1", []string{"When was {A} at {spot}?", "When did {A} go to {spot}?", "When did {A} hike or camp at {spot}?"}, "{when}"},
		},
		all: "Where has {A} gone hiking or camping?",
	},
	{ // an exam
		slots: []slot{
			{"exam", "statistics final|statistics; driving test; bar exam; organic chemistry midterm|organic chemistry; sailing license|sailing; Spanish certificate|Spanish"},
			{"method", "index cards; a study group at the diner|study group; recordings of my own voice|recordings; nothing but coffee|coffee"},
			{"grade", "passed with two points to spare; got the top grade; failed and have to repeat it; passed on the second try"},
		},
		tells: [][]string{
			{
				"a1 I took the {exam} {when}, and yesterday I got the result.",
				"b And? Don't keep me waiting, {A}!",
				"a2 I {grade}! It is over, that is what counts.",
				"b Phew. How did you study for it?",
				"a3 With {method}. Not sure that I can recommend it.",
			},
			{
				"b You were going to tell me about the {exam}, {A}.",
				"a1 Right, that was {when}. I hardly slept the night before.",
				"a2 But listen: I {grade}.",
				"b How do you feel now?",
				"a3 Tired. Weeks of {method} and I never want to see any of it again.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"What was {A}'s result in the {exam}?", "How did {A} do on the {exam}?", "Did {A} pass the {exam}?"}, "{grade}"},
			{singleHop, "3", []string{"How did {A} study for the {exam}?", "How did {A} prepare for the {exam}?", "What did {A} use to learn for the {exam}?"}, "{method}"},
			{temporal, "1", []string{"When did {A} take the {exam}?", "When was {A}'s {exam}?", "When did {A} sit the {exam}?"}, "{when}"},
		},
		all: "Which exams has {A} taken?",
	},
	{ // a diet or routine
		slots: []slot{
			{"habit", "getting up at five|wake up at five; cold showers|cold shower; no sugar|sugar; keeping a journal|journal; meditation; walking to work|walk to work"},
			{"why", "my blood pressure was too high|blood pressure; {person} dared me|dare; I slept so badly|sleep; I felt foggy all day|fog"},
			{"effect", "I have lost eight pounds; my headaches are gone; I am grumpy until noon; I finally have time to think"},
		},
		tells: [][]string{
			{
				"a1 I have changed something, {B}: {habit}. I began {when} and have not missed a day.",
				"b Impressive, {A}! I could never. What made you do it?",
				"a2 Well, {why}. So something had to happen.",
				"b And do you notice any difference?",
				"a3 I do, {effect}.",
			},
			{
				"b You seem different, {A}, in a good way.",
				"a3 You noticed! Lately {effect}.",
				"b What is your secret?",
				"a1 It is boring, really: {habit}. Since {when}, every single day.",
				"a2 I had to, because {why}.",
			},
		},
		asks: []ask{
			{singleHop, "2", []string{"Why did {A} take up the routine of {habit}?", "What was the reason for {A}'s new habit ({habit})?"}, "{why}"},
			{singleHop, "3", []string{"What effect does the {habit} routine have on {A}?", "What has changed for {A} due to {habit}?", "How does {A} feel with the new habit, {habit}?"}, "{effect}"},
			{temporal, "1", []string{"When did {A} start with {habit}?", "Since when has {A} kept to {habit}?"}, "{when}"},
		},
		all: "What healthy habits does {A} keep?",
	},
	{ // a gift
		slots: []slot{
			{"gift", "a silver necklace|necklace; a telescope; a fountain pen; a record from the sixties|record; a hand-knit scarf|scarf; a globe; a pocket knife"},
			{"giver", "my neighbor|neighbor; my old teacher|teacher; my goddaughter|goddaughter; {person}"},
			{"meaning", "it belonged to her mother|heirloom; we once talked about it for hours|talk; it is from the town where I was born|hometown; it has our initials on it|initials"},
		},
		tells: [][]string{
			{
				"a1 Look what {giver} gave me {when}: {gift}! [photo]",
				"b That is beautiful, {A}! Is there a story behind it?",
				"a2 There is. I nearly cried, because {meaning}.",
				"b Some people just know. Where do you keep it?",
				"a3 On the windowsill in the kitchen, so that I see it every morning.",
			},
			{
				"b What is that on your table, {A}?",
				"a1 {gift}! I got it from {giver} {when}. [photo]",
				"a2 It means a lot to me: {meaning}.",
				"b Aww, what a thoughtful present.",
				"a3 I take it with me wherever I go now.",
			},
		},
		asks: []ask{
			{singleHop, "1", []string{"Who gave {A} the {gift}?", "Who did {A} get the {gift} from?", "From whom did {A} receive the {gift} as a present?"}, "{giver}"},
			{singleHop, "2", []string{"Why is the {gift} special to {A}?", "What does the {gift} mean to {A}?", "Why does {A} treasure the {gift}?"}, "{meaning}"},
			{singleHop, "3", []string{"Where does {A} keep the {gift}?", "Where can {A}'s {gift} be found?"}, "close at hand"},
			{temporal, "1", []string{"When did {A} get the {gift}?", "When was the {gift} given to {A}?"}, "{when}"},
		},
		all: "What presents has {A} received?",
	},
}

// chats are exchanges about nothing that anybody asks for. Their words are those of
// the scenes, too: {any} is a value of some slot of some scene.
var chats = [][]string{
	{"a Did you see that documentary about {any}? I fell asleep after ten minutes.", "b Haha, no, but I heard that it was long.", "a Very. The pictures were nice, I give them that."},
	{"a The weather has been so strange lately.", "b Tell me about it. I wore a coat yesterday and shorts today.", "a At least the trees look beautiful."},
	{"a I keep seeing ads for {any} everywhere. Do they listen to us?", "b They must! I only talked about it once."},
	{"a Work was a lot this week. Meetings about meetings.", "b Same here, {A}. I need a break.", "a We both do. Let's plan something soon."},
	{"a You always know how to cheer me up, {B}.", "b That's what friends are for! I am always here for you.", "a It means the world to me, really."},
	{"a I was thinking about what you said last time. It helped me a lot.", "b I am so glad to hear that, {A}.", "a Taking things one step at a time, that is the trick."},
	{"a My phone battery lasts about an hour these days.", "b Time for a new one?", "a Probably, but I hate choosing."},
	{"a {person} says hi, by the way.", "b Aww, say hi back! It has been forever.", "a I will. We should all meet up some time."},
	{"a Have you ever thought about {any}?", "b Not really. Have you?", "a Sometimes, when I cannot sleep. It passes."},
	{"a I love this time of the year.", "b Me too! Everything feels possible somehow.", "a Exactly. I want to make the most of it."},
	{"a What do you do when you feel stressed?", "b I put on music and clean the kitchen. It works every time.", "a I should try that. My way is chocolate."},
	{"a Somebody at work would not stop talking about {any}.", "b Haha, there is always one.", "a I nodded for an hour. I deserve a medal."},
	{"a It feels good to talk to you, {B}.", "b Likewise! These chats keep me going.", "a Same for me. Let's never stop."},
	{"a I can't decide what to cook tonight.", "b Pasta. The answer is always pasta.", "a You are right, as usual."},
	{"a The traffic in town was terrible again.", "b I walk whenever I can, it is quicker.", "a If only it were not so far for me."},
	{"a {person} wanted to know all about {any}. I had no clue what to say.", "b I would have made something up.", "a I nearly did!"},
	{"a Do you believe in luck?", "b I think that we make our own, mostly.", "a I like that. I will write it down."},
	{"a I watched the kids next door play all afternoon.", "b Sweet. They grow up so quickly.", "a They do. Last year they could hardly walk."},
	{"a Thanks again for listening the other day.", "b Any time, {A}. You would do the same for me.", "a You bet I would."},
	{"a I'm so tired of my inbox.", "b Declare bankruptcy and delete it all!", "a Do not tempt me, {B}."},
	{"a My neighbor asked me whether I know anybody who is into {any}.", "b And do you?", "a Apart from you? No!", "b Very funny, {A}."},
	{"a There was a rainbow over the parking lot this morning.", "b I hope you took a picture.", "a I did, it came out all gray. [photo]"},
	{"a Someday I would like to write things down, like a memoir.", "b You should! I would read it.", "a You would be in every chapter, {B}."},
	{"a Any plans for the weekend?", "b Nothing at all, and I love it. You?", "a Groceries, laundry, and maybe a nap."},
}

// greetings and goodbyes frame a session.
var greetings = [][2]string{
	{"Hey {B}! Good to see you. It's been a while, how are you?", "Hi {A}! All good here. So nice to hear from you!"},
	{"Hi {B}, long time no talk! What's up?", "Hey {A}! Busy days, but I can't complain. How about you?"},
	{"{B}! I was just thinking of you. How have you been?", "What a coincidence, {A}! I have been great, thanks for asking."},
	{"Good morning, {B}! Do you have a minute?", "For you, {A}, always. What is going on?"},
	{"Hey, how is it going, {B}?", "Pretty well, {A}! A lot has happened since last time."},
}

var goodbyes = [][2]string{
	{"I have to run, {B}. Talk to you soon!", "Take care, {A}! Until next time."},
	{"It was great to catch up, {B}. Have a good one!", "You too, {A}! Bye!"},
	{"Okay, dinner is ready over here. See you, {B}!", "Enjoy your meal, {A}! Say hello to everybody."},
	{"Let's talk again soon, {B}. Thanks for everything!", "Always, {A}. Sleep well!"},
}

// echoes are what the other says in between: words of what was told, again, in a turn
// that is no evidence.
var echoes = []string{
	"So let me get this straight, {A}: {words}. That is really something!",
	"I still can't believe it, {words}! Good for you, {A}.",
	"Thanks for telling me, {A}. I will have to tell my family about {words}.",
	"{words}, that is so you, {A}!",
}

// mentions name what a turn is about.
var mentions = []string{"As for {it}, ", "Speaking of {it}, ", "With {it} it is like this: ", "The thing with {it} is: ", "When it comes to {it}, "}

// openers and closers make turns longer and say nothing.
var openers = []string{"Honestly, ", "By the way, ", "You know what? ", "Okay, so: ", "I have been meaning to tell you: ", "Fun fact: ", "Well, "}

var closers = []string{
	" It really made my week.", " I still think about it a lot.", " Life is full of surprises.", " I feel so grateful for moments like that.",
	" You would have loved it.", " It took a while, but it was worth it.", " I can't say it any better.", " We should talk more about that some time.",
}

var speakers = []string{
	"Amelia", "Bruno", "Celeste", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Imani", "Jonas",
	"Keiko", "Leon", "Marisol", "Nikhil", "Odette", "Pavel", "Rosa", "Stefan", "Tamsin", "Viktor",
}

var acquaintances = []string{
	"Aaron", "Bianca", "Carlos", "Dana", "Edgar", "Fiona", "Gavin", "Heidi", "Ivan", "Joyce", "Kurt", "Lydia", "Mona", "Nelson", "Oscar",
	"Paula", "Quentin", "Ruth", "Sonia", "Trevor", "Ursula", "Vince", "Wanda", "Xavier", "Yvonne", "Zach",
}

var times = []string{
	"last Saturday", "last Sunday", "last Friday", "yesterday", "two days ago", "last week", "on Tuesday", "the weekend before last", "three days ago", "last Thursday",
}
