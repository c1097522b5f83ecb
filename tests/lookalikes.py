"""What only looks like a secret, and must stay readable: one text a line, and some made up."""

from __future__ import annotations

from tests.credentials import BODY, HEX, UUID, encoded


def harmless() -> list[str]:
    """Texts that hold nothing to be masked."""
    return [line for line in _HARMLESS.split("\n") if line.strip()] + [
        "commit " + HEX[:40],
        "sha256:" + HEX,
        "index 83db48f..bf269f4 100644",
        f"session {UUID}",
        f"-- name: {UUID}.jsonl",
        "t-7k2m9xq4 is blocked by t-3n8p5rw2",
        "integrity sha512-" + encoded(BODY),
        "data:image/png;base64," + encoded(BODY * 2),
        "const blob = '" + encoded("def main():\n    return 42\n" * 3) + "'",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sk-" + "x" * 40,
        "ghp" + "_" + "x" * 36,
        "sk-" + "ant-your-key-here-please-and-thank-you",
        "postgres://user:" + "password@localhost/db",
        "if '-----BEGIN RSA PRIVATE" + " KEY-----' in text or '-----END' in text: pass",
        "look for -----BEGIN PRIVATE" + " KEY----- in the log",
        "-----BEGIN CERTIFICATE-----\n" + BODY + "\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\n" + BODY + "\n-----END PUBLIC KEY-----",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + BODY[:43] + " ada@host",
        "{" + ",".join(f"{c}:function({c}){{return {c}.token}}" for c in "abcdefgh") + "}",
    ]


_HARMLESS = """\
token: string
privateKey: Uint8Array;
secretKey: BigUint64Array
return { privateKey: ed25519Seed }
| `encryptedPrivateKey` | `Uint8Array` |
"error.password_clear_failed": "清除密码失败：{error}"
"cli.enter_password": "请输入 cpolar 密码"
set CPOLAR_PASSWORD=你的密码
パスワード: "入力してください"
password: string
const token = getToken()
const password = await promptForPassword(user)
get_password(user)
password = os.environ['PASSWORD']
password = os.environ["DB_PASSWORD"]
token = os.getenv("API_TOKEN")
const secret = process.env.CLIENT_SECRET
apiKey: process.env.OPENAI_API_KEY
token: import.meta.env.VITE_TOKEN
PASSWORD=$DB_PASSWORD
PASSWORD=${DB_PASSWORD:-}
password: ${{ secrets.DEPLOY_PASSWORD }}
GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}
token: {{ .Values.token }}
export TOKEN=$(cat /run/secrets/token)
export TOKEN=`vault read -field=token secret/x`
TOKEN_FILE=/run/secrets/token
PASSWORD_FILE=/etc/app/password
password: <your password>
api_key = "<your-api-key>"
api_key: YOUR_API_KEY
token = "your-token-here"
TOKEN=xxx
token: xxxxxxxxxxxxxxxx
password: ********
password: ...
--password <password>
--token $TOKEN
--token "$TOKEN"
--token-file /etc/token
--password-stdin
git commit --author ada --no-token-check
max_tokens: 4096
max_tokens=200000
"max_tokens": 1024
token_count=123
total_tokens: 52341
cache_read_input_tokens: 18034
"input_tokens": 3, "output_tokens": 512
tokens used: 12345
tokenizer: cl100k_base
tokenizer = AutoTokenizer.from_pretrained("gpt2")
the token is invalid
the token is expired
the password is required
the secret is missing
token expired at 2026-11-30T04:06:23Z
password must be at least 12 characters
password: "must be at least 8 characters"
"password": "Enter your password"
passwordLabel = "Your password"
password: 'Password is required'
placeholder="Password"
label: "New password"
password_hint: "the name of your first pet"
error: "Invalid password or user name"
forgot_password_url = "/account/forgot1"
password_reset_path: reset-password
password_field
password_field = "user_password"
id="password1"
input[name="password"]
<input type="password" name="password">
type="password"
type: password
name: "password"
secretName: my-app
secretKeyRef:
secret_name = "prod/db/main1"
secretsmanager.get_secret_value(SecretId=name)
secret_id: projects/1234/secrets/db1
imagePullSecrets: [registry]
credential_provider: "aws-sso-2"
credentials: include
credentials: "same-origin"
credentials = Credentials()
credential_type = "service_account_2"
access_key_id
account_key_type: rsa2048
private_key_path = "~/.ssh/id_ed25519"
private_key_file: /etc/ssl/key1.pem
api_key_name: header1
token_type: bearer
token_type = "Bearer"
token_url: https://auth.example/oauth2/token
token_endpoint: "https://auth.example/oauth2/v2/token"
tokenExpiry: 3600
token_ttl = 86400
token_limit: 100000
token_budget: 20000
token_index = 17
tokens = text.split()
tokens = [1, 2, 3]
token = tokens[i + 1]
token = next(stream)
token.kind == TokenKind.Identifier
token: Token
token: Option<String>
token: Optional[str] = None
def check(token: str, password: str) -> bool:
func Login(password string, token []byte) error
let token: JwtPayload | undefined
private readonly tokenService: TokenService2
this.token = token
self.password = password
self._token = None
token=None
password=None
password = null
password = ""
password: ''
password = input("Password: ")
password = getpass.getpass()
password = config.database.password
password = settings.DB_PASSWORD
secret = config["secret"]
secret = load_secret("db1")
secret_key = generate_key(32)
assert password == expected_password
if (password !== confirmPassword) {
if password is None:
expect(token).toBe(undefined)
expect(screen.getByLabelText("Password")).toBeVisible()
test('rejects a wrong password', async () => {
describe("token refresh", () => {
it("hashes the password with bcrypt2", ...)
def test_password_is_hashed_with_argon2():
--- PASS: TestCondense (0.00s)
--- PASS: TestToken/valid (0.00s)
PASS src/token.test.ts (5.123 s)
PASS: 12, FAIL: 0
pass: true
pass=1
bypass=rule42
compass: north1
passive: true
passport: GitHub2Strategy
pass: 3/3
passed: 1234
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${token}
headers: { Authorization: `Bearer ${token}` }
headers["Authorization"] = f"Bearer {token}"
headers.set("Authorization", "Bearer " + token)
authorization: string
authorization: required
Authorization header is missing
authorizationUrl: https://auth.example/authorize
the Authorization: header carries it
basic understanding of it
basic implementation-details
Basic auth is off
bearer tokens are checked
the bearer authentication scheme
Cookie: the browser sends it back
cookie: string
cookies: true
document.cookie
set-cookie: off
setCookie("theme", value)
docker run -u 1000:1000 image
docker run -u node:node image
docker run -p 8080:80 image
mkdir -p src/app/models
psql -p 5432 -U ada tides
mysql -u root -p tides
mysql --port 3306 -P 3307
ssh -p 2222 ada@host
cp -p a b
grep -u a:b file
chown -u root:root x
docker compose -p project up
http://localhost:5432/tides
postgres://localhost:5432/tides
DATABASE_URL=postgres://localhost:5432/tides
DATABASE_URL=postgres://user@localhost/tides
postgres://$USER:$PASSWORD@localhost/tides
postgres://user:<password>@host/db
https://example.org:8080/@scope/package
https://example.org/@ada/1234
http://localhost:3000/users?email=ada@example.org
git@github.com:ada/tides.git
ssh://git@host.example:22/x.git
mailto:ada@example.org
see https://docs.example/api/tokens#create-a-token-2
import { Token } from "./token2"
from app.auth.token2 import verify
import keyboard; key = 'Enter'
key: "ArrowLeft1"
primaryKey: 'user_id1'
foreign_key: accounts.id
keys = sorted(d)
React key="item-42"
cache_key = f"user:{id}"
sort_key=created_at2
publicKey: pk
public_key_bytes = 32
monkey: patch1
hotkeys: ctrl+k
#ff8800
#a1b2c3d4
color: #1e90ff80
0xdeadbeefcafebabe
version = "2.1.332"
node_modules/@types/node/package.json
/usr/local/lib/python3.11/site-packages/contextspindle/core/secret_names.py
src/components/authentication/PasswordStrengthIndicator2.tsx
D:\\\\tools\\\\Token2\\\\x.txt
file.py:123:45: error: token2 is unused
src/a.ts:12:5:error:TS2304
12:34:56.789 token refreshed
at Object.<anonymous> (/app/src/token.js:12:34)
[L123] the token bucket refills 5 times a second
toolu_01A2b3C4d5E6f7G8h9J0k1L2
msg_01XFDUDYJgAACzvnptvVoYEL
req_011CSHoEeqs5C35K2UUqR7Fy
call_abc123DEF456ghi789
requestId: req_vrtx_011CQ2b3
sk-fading-circle sk-circle2
the task-runner reads sk-learn-models-and-more-of-them
sk-learn-models-2024-and-more-of-them
hf_transfer_enabled_for_downloads_2
npm_config_registry_override_2
npm_package_dependencies_react2
secret_manager_client_options_v2
re_compile_pattern_for_identifiers_2
key-value-store-for-the-frontend-2
ico-arrow-right-small-dark-2024
pat-na1-example
SG.example
eyJ is how such a token begins
eyJhbGci...
jwt.decode(token, options={"verify_signature": False})
the API key goes into the keychain
store the secret in the vault
a password manager
rotate tokens every 90 days
CSRF token mismatch
csrf_token()
{% csrf_token %}
@token.setter
token$ | async
*token = 0;
&token
token->type
token::Kind
secret::Vault
password?: string
api_key=...
API_KEY=
API_KEY= # set it in the shell
OPENAI_API_KEY is not set
echo $OPENAI_API_KEY
printenv GITHUB_TOKEN
unset AWS_SECRET_ACCESS_KEY
aws configure set aws_secret_access_key
gh auth token
auth: required
"auth": "oauth2"
"auth": "none"
auth_method: oauth2
basic_auth: true
vault:secret/data/app#token
arn:aws:secretsmanager:eu-central-1:123456789012:secret:db-AbCdEf
machine learning needs a login and a password too
a:b:c:d:e
10:5432:20
localhost:5432:5432
ports: "5432:5432"
docker login -u x -password-stdin
cat token.txt | docker login -u x --password-stdin
echo "$TOKEN" | gh auth login --with-token
echo done | sudo tee /etc/motd
docker run --name mysql -p 3306:3306
docker run mongo -p 27017:27017
unexpected token: 'foo123bar'
id_token: IDToken2
basic functionality-v2.1
http://ada:80@host
| password | varchar(255) |
| Password | Description |
| password | VARCHAR2 |
| token | string |
BYPASS=always1
COMPASS=north12
password:\n  type: string
if password:\n    Break1Now2
Password:\nEnter it twice
pass: test_login2
密码是必填的
密码：必填
пароль: обязательно
Signature=abc
mask(signature)
verify_Signature=true
curl -b cookies.txt https://api.example
grep -b 'a=b' x
auth=(user, password)
set -x
"""
