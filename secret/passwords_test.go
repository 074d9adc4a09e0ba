package secret

import (
	"strings"
	"testing"
)

// The forms of passwords that people make up. A + keeps this file free of them.
func TestPasswords(t *testing.T) {
	for _, tt := range []struct{ before, password, after string }{
		{"password = ", "hun" + "ter2", "\n"},
		{"passwd: ", "hun" + "ter2", ""},
		{"db.password=", "hun" + "ter2", " db.user=x"},
		{"DB_PASSWORD=", "n1" + "ght!", "\n"},
		{"Server=db;Uid=sa;Pwd=", "l0ng" + "er!", ";"},
		{`{"user": "ada", "password": "`, "night" + "owl", `"}`},
		{`"{\"password\": \"`, "night" + "owl", `\"}"`},
		{"passwort: '", "4821" + "3097", "'"},
		{"  password: ", "night" + "owl", "\n  user: ada"},
		{"export PGPASSWORD=", "night" + "owl", "\n"},
		{"- passphrase: ", "night" + "owl", ""},
		{"mysql --user ada --password ", "hun" + "ter2", " db"},
		{"login --passwd '", "night" + "owl", "'"},
		{"curl 'https://x/login?user=a&password=", "hun" + "ter2", "&x=1'"},
	} {
		text := tt.before + tt.password + tt.after
		found := Scan(text)
		if len(found) != 1 || text[found[0].Start:found[0].End] != tt.password || found[0].Kind != kindPassword {
			t.Errorf("Scan(%q) = %v, want a password at %d", text, found, len(tt.before))
		}
		if got, want := Redact(text), tt.before+"[secret: password]"+tt.after; got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

// A value in quotes is replaced up to its closing quote, whatever signs it has, and a value whose
// quote is not closed in its line up to the first sign that ends values.
func TestQuotedValuesAreReplacedWhole(t *testing.T) {
	word, long := "Tr0ub"+"4dor", strings.Repeat("x9", 252) // with both and a comma, more than 512 bytes
	for text, want := range map[string]string{
		`password = "` + word + `,3&x9"; next`:                 `password = "[secret: assignment]"; next`,
		`"password": "` + "hun" + `ter2<script>", "id": 1`:     `"password": "[secret: password]", "id": 1`,
		`"password": "` + word + `\"x9", "id": 1`:              `"password": "[secret: assignment]", "id": 1`,
		`password = "` + word + `'x9"`:                         `password = "[secret: assignment]"`,
		`"{\"password\": \"` + word + `;x9\", \"id\": 1}"`:     `"{\"password\": \"[secret: assignment]\", \"id\": 1}"`,
		`"{\"password\": \"` + word + `\", \"id\": 1}"`:        `"{\"password\": \"[secret: assignment]\", \"id\": 1}"`,
		"password = \"" + word + ",x9\nid = \"1\"":             "password = \"[secret: assignment],x9\nid = \"1\"",
		`password = "` + word + `,x9`:                          `password = "[secret: assignment],x9`,
		`password = "` + word + `,` + long + `"`:               `password = "[secret: assignment],` + long + `"`,
		`login --password '` + "hun" + `ter2;x9' --user 'ada'`: `login --password '[secret: password]' --user 'ada'`,
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}

// What only speaks of passwords is left alone.
func TestNoPasswords(t *testing.T) {
	for _, text := range []string{
		"password: string", "password: str = None", "password?: string | null", "Password string `json:\"password\"`",
		"password = getPassword()", "password = os.environ['DB']", "password=password", "password = user_password2", "password = args.password",
		"password: ${DB_PASSWORD}", "password: {{ .Values.password }}", "PASSWORD: ${{ secrets.SIGN }}", "password = $1", "password: <yours>",
		"password: required", "password:\n  type: string", "password: \"Password\"", "password: '********'", "password: \"\"", "password = nil",
		"if password == other {", "password != hunter", "the password: it is long", "Password: Kennwort", "password = abc", "password: 1",
		"PWD=/home/ada/x1", "\"PWD=\"+cmd.Dir, \"x\"", "pwd: /srv/app2", "type=\"password\" id=\"pw1\"", "resetPassword(token)", "password, token := split(x)",
		"--password is deprecated", "--password VALUE", "--password $PW1", "--password-file pw1", "--password ", `password = "admin~~1"`, "password: see docs/setup", "passwd: files systemd",
	} {
		if found := Scan(text); len(found) > 0 {
			t.Errorf("Scan(%q) finds %v", text, found)
		}
	}
}

// A password behind its name costs no more than the text is long.
func TestPasswordsTakeLinearTime(t *testing.T) {
	text := strings.Repeat("password=", 50_000) + "\n" + strings.Repeat("--password ", 50_000)
	if found := Scan(text); len(found) > 100_000 {
		t.Errorf("%d findings", len(found))
	}
}
