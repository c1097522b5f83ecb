"""Forms of secrets: made up, and put together when they are asked for, so that no scanner takes
this file for a leak.
"""

from __future__ import annotations

import base64

BODY = "Zx81Qw7Lm2Kp9Vt4Rb6Nc3Hd5Js0Fg1Ty8Ue7Ia2Oo9Pp4Ss6Dd3Ff5Gg0Hh1Jj"
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
UUID = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d"
WORD = "hunter2hunter2"
PHRASE = "correct horse battery"


def _pem(kind: str, end: str = "\n", *, closed: bool = True) -> str:
    rows = [
        f"-----BEGIN {kind}PRIVATE" + " KEY-----",
        "MIIEpAIBAAKCAQEA7bq" + BODY[:45],
        BODY[5:60] + "QQQQ",
        "c3RvcmVkIGhlcmU=",
    ]
    return end.join([*rows, f"-----END {kind}PRIVATE" + " KEY-----"] if closed else rows[:3])


def _shown(before: str, *, first: str = "", rows: slice = slice(None)) -> str:
    """A key as a program shows it that puts something before every line."""
    listed = _pem("RSA ").split("\n")
    marked = [before.format(n) + row for n, row in enumerate(listed, 1)]
    return "\n".join((first + listed[0] if first else marked[0], *marked[1:])[rows])


def shown_keys() -> dict[str, str]:
    """Keys with something before their lines: whole, and with either end cut away."""
    marks = {
        "a difference": "-",
        "numbered lines": "{:>6}→",
        "lines that were found": "{}:",
        "lines of a file": "certs/key.pem:{}:",
        "lines around": "key.pem-",
    }
    found = {}
    for name, before in marks.items():
        found[name] = _shown(before)
        found[f"{name}, the end cut away"] = _shown(before, rows=slice(0, 3))
        found[f"{name}, the start cut away"] = _shown(before, rows=slice(1, None))
    return found


def _web_token() -> str:
    return ".".join(("eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + BODY[:30], BODY[3:43]))


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def by_form() -> dict[str, str]:
    """Secrets that are known wherever they stand."""
    return {
        "Amazon key id": "AKIA" + "Q3EGXAMPL7ZT5WKD",
        "Amazon session key id": "ASIA" + "Q3EGXAMPL7ZT5WKD",
        "Alibaba": "LTAI" + BODY[:20],
        "GitHub": "ghp" + "_" + BODY[:36],
        "GitHub OAuth": "gho" + "_" + BODY[:36],
        "GitHub application": "ghs" + "_" + BODY[:36],
        "GitHub refresh": "ghr" + "_" + BODY[:36],
        "GitHub fine-grained": "github" + "_pat_" + BODY[:22] + "_" + BODY[:59],
        "GitLab": "glpat" + "-" + BODY[:20],
        "GitLab routable": "glpat" + "-" + BODY[:27] + ".01.1" + BODY[:8].lower(),
        "GitLab deploy": "gldt" + "-" + BODY[:20],
        "GitLab runner": "glrt" + "-" + BODY[:20],
        "Anthropic": "sk-" + "ant-api03-" + BODY + "-" + BODY[:28] + "AA",
        "OpenAI": "sk-" + BODY[:48],
        "OpenAI project": "sk-" + "proj-" + BODY + "_" + BODY,
        "OpenAI service account": "sk-" + "svcacct-" + BODY,
        "OpenRouter": "sk-" + "or-v1-" + HEX,
        "Stripe": "sk" + "_live_" + BODY[:24],
        "Stripe restricted": "rk" + "_live_" + BODY[:24],
        "Stripe test": "sk" + "_test_" + BODY[:24],
        "Stripe organisation": "sk" + "_org_live_" + BODY[:24],
        "Stripe webhook": "whsec" + "_" + BODY[:32],
        "Slack bot": "xox" + "b-123456789012-123456789012-" + BODY[:24],
        "Slack user": "xox" + "p-123456789012-123456789012-" + BODY[:24],
        "Slack refresh": "xox" + "e-1-" + BODY[:40],
        "Slack application": "xapp" + "-1-A0123456789-123456789012-" + HEX[:40],
        "Google": "AI" + "za" + BODY[:35],
        "Google access": "ya" + "29." + BODY,
        "Google client": "GOC" + "SPX-" + BODY[:28],
        "Google refresh": "1/" + "/0" + BODY,
        "Azure application": "Abc8" + "Q~" + BODY[:34],
        "Azure DevOps": BODY + BODY[:10] + "AZ" + "DO" + BODY[:4],
        "Azure resource": BODY[:52] + "JQQ" + "J99" + BODY[:26],
        "Hugging Face": "hf" + "_" + BODY[:34],
        "npm": "npm" + "_" + BODY[:36],
        "PyPI": "pypi" + "-AgEIcHlwaS5vcmc" + BODY,
        "RubyGems": "rubygems" + "_" + HEX[:48],
        "NuGet": "oy2" + BODY[:43].lower(),
        "crates": "cio" + BODY[:32],
        "Docker": "dckr" + "_pat_" + BODY[:27],
        "SendGrid": "SG" + "." + BODY[:22] + "." + BODY[:43],
        "Twilio": "SK" + HEX[:32],
        "Mailgun": "key" + "-" + HEX[:32],
        "Mailchimp": HEX[:32] + "-us" + "12",
        "Brevo": "xkeysib" + "-" + HEX + "-" + BODY[:16],
        "Telegram": "1234567890" + ":AA" + BODY[:33],
        "Discord bot": "MTA" + "xMTIzNDU2Nzg5MDEyMzQ1" + "." + BODY[:6] + "." + BODY[:38],
        "DigitalOcean": "dop" + "_v1_" + HEX,
        "Databricks": "dapi" + HEX[:32],
        "Shopify": "shpat" + "_" + HEX[:32],
        "Square": "sq0csp" + "-" + BODY[:43],
        "Groq": "gsk" + "_" + BODY[:52],
        "xAI": "xai" + "-" + BODY + BODY[:16],
        "Perplexity": "pplx" + "-" + BODY[:48],
        "Replicate": "r8" + "_" + BODY[:37],
        "Figma": "figd" + "_" + BODY[:40],
        "Linear": "lin" + "_api_" + BODY[:40],
        "Notion": "ntn" + "_" + BODY[:46],
        "Atlassian": "ATA" + "TT3xFfGF0" + BODY + "=" + "A1B2C3D4",
        "Vault": "hv" + "s." + BODY[:30],
        "Terraform": BODY[:14] + ".atlas" + "v1." + BODY,
        "Doppler": "dp" + ".pt." + BODY[:43],
        "Grafana": "glsa" + "_" + BODY[:32] + "_" + HEX[:8],
        "New Relic": "NR" + "AK-" + BODY[:27].upper(),
        "Sentry": "sntrys" + "_" + BODY,
        "Postman": "PM" + "AK-" + HEX[:24] + "-" + HEX[:34],
        "PlanetScale": "pscale" + "_tkn_" + BODY[:43],
        "Supabase": "sbp" + "_" + HEX[:40],
        "HubSpot": "pat" + "-na1-" + UUID,
        "Airtable": "pat" + BODY[:14] + "." + HEX,
        "Tailscale": "tskey" + "-auth-" + BODY[:30],
        "Pulumi": "pul" + "-" + HEX[:40],
        "SonarQube": "squ" + "_" + HEX[:40],
        "age": "AGE-SECRET" + "-KEY-1" + BODY[:58].upper(),
        "web token": _web_token(),
        "RSA key": _pem("RSA "),
        "PKCS8 key": _pem(""),
        "OpenSSH key": _pem("OPENSSH "),
        "encrypted key": _pem("ENCRYPTED "),
        "key in JSON": _pem("EC ", "\\n"),
        "key in JSON twice": _pem("", "\\\\n"),
        "indented key": _pem("", "\n    "),
        "key in a difference": _pem("RSA ", "\n+"),
        "key, its end cut away": _pem("RSA ", closed=False),
        "key in JSON, its end cut away": _pem("RSA ", "\\n", closed=False),
    }


def by_place() -> dict[str, tuple[str, str]]:
    """Texts with a secret that is known by what stands around it, and that secret."""
    return {
        "environment": (f"GITLAB_TOKEN={BODY[:20]}", BODY[:20]),
        "export": (f"export DB_PASSWORD={WORD}", WORD),
        "Windows": (f"set DB_PASSWORD={WORD}", WORD),
        "with signs": ("DB_PASSWORD=p@ss;w0rd!(1)", "p@ss;w0rd!(1)"),
        "all of a line": ("SMTP_PASS=correct;horse&battery", "correct;horse&battery"),
        "inline": ("run it with SMTP_PASS=correct;horse&battery first", "correct;horse&battery"),
        "container on one line": (f"- name: DB_PASSWORD value: {WORD}", WORD),
        "pgpass in a sentence": (f"add db:5432:tides:ada:{WORD} there", WORD),
        "quoted": (f"DB_PASSWORD='{WORD}'", WORD),
        "with blanks": (f'password = "{PHRASE}"', PHRASE),
        "with blanks in a variable": (f"export VAULT_PASSPHRASE='{PHRASE}'", PHRASE),
        "with blanks in JSON": (f'{{"password": "{PHRASE}"}}', PHRASE),
        "with an escaped quote": ('password = "ab\\"cd12ef"', 'ab\\"cd12ef'),
        "YAML": (f"password: {WORD}", WORD),
        "YAML, quoted": (f"  password: '{WORD}'", WORD),
        "JSON": (f'"client_secret": "{HEX[:32]}"', HEX[:32]),
        "escaped JSON": (f'{{\\"password\\":\\"{WORD}\\"}}', WORD),
        "JSON in JSON": (f'{{\\\\\\"token\\\\\\":\\\\\\"{BODY[:20]}\\\\\\"}}', BODY[:20]),
        "dictionary": (f"{{'Api-Key': '{HEX[:20]}'}}", HEX[:20]),
        "item": (f'config["secret_key"] = "{BODY[:24]}"', BODY[:24]),
        "keyword": (f'connect(host, password="{WORD}")', WORD),
        "Go": (f'apiKey := "{BODY[:24]}"', BODY[:24]),
        "Ruby": (f':api_key => "{BODY[:24]}"', BODY[:24]),
        "comparison": (f'if password == "{WORD}":', WORD),
        "properties": (f"spring.datasource.password={WORD}", WORD),
        "XML": (f"<password>{WORD}</password>", WORD),
        "XML attribute": (f'<add key="x" password="{WORD}" />', WORD),
        "Kubernetes": (f"- name: DB_PASSWORD\n  value: {WORD}", WORD),
        "container": (f'{{"name": "DB_PASSWORD", "value": "{WORD}"}}', WORD),
        "kubeconfig": (f"    token: {BODY[:40]}", BODY[:40]),
        "client key": ("client-key-data: " + encoded(_pem("RSA ")), encoded(_pem("RSA "))[:60]),
        "option": (f"login --password {WORD}", WORD),
        "option with a sign": (f"login --password={WORD}", WORD),
        "option, quoted": (f'login --password "{PHRASE}"', PHRASE),
        "option of a key": (f"--api-key {HEX[:12]} --port 80", HEX[:12]),
        "option of a token": (f"npm publish --token {UUID}", UUID),
        "mysql": (f"mysql -u root -p{WORD} tides", WORD),
        "sshpass": (f"sshpass -p {WORD} ssh ada@host", WORD),
        "docker login": (f"docker login -u ada -p {WORD} registry.example", WORD),
        "redis-cli": (f"redis-cli -h cache -a {WORD} ping", WORD),
        "curl": (f"curl -u ada:{WORD} https://api.example", WORD),
        "curl, long": (f"curl --user 'ada:{WORD}' https://api.example", WORD),
        "openssl": (f"openssl rsa -passin pass:{WORD} -in key.pem", WORD),
        "speech": (f"the password is {WORD}", WORD),
        "speech with a name": (f"use ada, the token is {BODY[:20]}.", BODY[:20]),
        "SQL": (f"ALTER USER ada WITH PASSWORD '{WORD}'", WORD),
        "MySQL": (f"CREATE USER ada IDENTIFIED BY '{WORD}'", WORD),
        "PostgreSQL": (f"postgres://ada:{WORD}@db.example:5432/tides", WORD),
        "MongoDB": (f"mongodb+srv://ada:{WORD}@cluster0.example/tides", WORD),
        "Redis": (f"redis://:{WORD}@cache:6379/0", WORD),
        "AMQP": (f"amqp://ada:{WORD}@queue//", WORD),
        "with a sign": ("https://ada:p@ss@host.example/x", "p@ss"),
        "with a slash": ("postgres://ada:pa/ss12@db/tides", "pa/ss12"),
        "git remote": (f"https://{BODY[:30]}@git.example/ada/tides", BODY[:30]),
        "git remote with a name": (f"https://oauth2:{BODY[:20]}@git.example/x.git", BODY[:20]),
        "query": (f"GET /v1?access_token={BODY[:30]}&page=2", BODY[:30]),
        "signed address": (f"https://s.blob.example/c?sv=1&sig={BODY[:43]}%3D", BODY[:43]),
        "storage account": (f"AccountName=ada;AccountKey={encoded(BODY)};", encoded(BODY)),
        "ADO": ("Server=db;User Id=ada;Password=p@ss w0rd;", "p@ss w0rd"),
        "service bus": (f"SharedAccessKeyName=x;SharedAccessKey={BODY[:43]}=", BODY[:43]),
        "bearer": (f"Authorization: Bearer {BODY[:30]}", BODY[:30]),
        "basic": ("Authorization: Basic " + encoded("ada:hunter2"), encoded("ada:hunter2")),
        "token scheme": (f"authorization: token {HEX[:40]}", HEX[:40]),
        "header in code": (f'headers={{"Authorization": "Bearer {BODY[:30]}"}}', BODY[:30]),
        "header of curl": (f"curl -H 'Authorization: Bearer {BODY[:30]}' x", BODY[:30]),
        "header without a scheme": (f"Authorization: {BODY[:40]}", BODY[:40]),
        "header of a provider": (f"X-Api-Key: {HEX[:16]}", HEX[:16]),
        "bearer alone": (f"send Bearer {BODY[:30]} along", BODY[:30]),
        "cookie": ("Cookie: sid=4f5a6b7c; theme=dark", "4f5a6b7c"),
        "cookie that is set": (f"Set-Cookie: session={BODY[:20]}; HttpOnly", BODY[:20]),
        "netrc": (f"machine api.example login ada password {WORD}", WORD),
        "netrc on lines": (f"machine api.example\n  login ada\n  password {WORD}", WORD),
        "npmrc": (f"//registry.example/:_authToken={UUID}", UUID),
        "npmrc, old": (f"_auth={encoded('ada:hunter2hunter2')}", encoded("ada:hunter2hunter2")),
        "pgpass": (f"db.example:5432:tides:ada:{WORD}", WORD),
        "docker config": (
            f'"auth": "{encoded("ada:hunter2hunter2")}"',
            encoded("ada:hunter2hunt"),
        ),
        "Amazon secret": (f"aws_secret_access_key = {BODY[:40]}", BODY[:40]),
        "Amazon session": (f"aws_session_token = {encoded(BODY * 3)}", encoded(BODY * 3)[:80]),
        "Slack webhook": (f"https://hooks.slack.com/services/T0AB1CD2E/B0{BODY[:30]}", BODY[:30]),
        "Discord webhook": (f"https://discord.com/api/webhooks/123456789/{BODY}", BODY),
        "web key": (f'{{"kty":"EC","crv":"P-256","d":"{BODY[:43]}"}}', BODY[:43]),
        "hash of a password": ("password: $2b$12$" + BODY[:53], BODY[:53]),
        "hash in a file": (f"root:$6$salt$ab{BODY}:1", BODY),
        "hash of a server": (f"ada:$apr1$salt1234${BODY[:22]}", BODY[:22]),
        "in bold": ("**Password:** `Tr0ub4dor&3x`", "Tr0ub4dor&3x"),
        "in bold, bare": ("**Password**: Tr0ub4dor&3x", "Tr0ub4dor&3x"),
        "table": ("| Password | Tr0ub4dor&3x |", "Tr0ub4dor&3x"),
        "next line": ("Password:\nTr0ub4dor&3x", "Tr0ub4dor&3x"),
        "beside a user": (f"user: ada, pass: {WORD}", WORD),
        "Chinese": (f"密码：{WORD}", WORD),
        "wide colon": (f"password：{WORD}", WORD),
        "Russian": (f"Пароль: {WORD}", WORD),
        "Spanish": (f"contraseña: {WORD}", WORD),
        "German": (f"Kennwort: {WORD}", WORD),
        "German speech": (f"das Passwort lautet {WORD}", WORD),
        "Japanese": (f"パスワード: {WORD}", WORD),
        "amid Chinese": (f"export DB_PASSWORD='我的密码是{WORD}'", f"我的密码是{WORD}"),
        "amid Chinese, with signs": ("password = '我的密码是Qx#9!vT$'", "我的密码是Qx#9!vT$"),
        "behind much Chinese": (
            'password = "' + "这是一个很长的说明" * 25 + f'{WORD}"',
            "这是一个很长的说明" * 25 + WORD,
        ),
        "Chinese in a variable": ("DB_PASSWORD='春眠不觉晓20240315'", "春眠不觉晓20240315"),
        "Chinese without quotes": ("DB_PASSWORD=春眠不觉晓SecretHorse", "春眠不觉晓SecretHorse"),
        "Korean in a variable": ("PGPASSWORD='비밀번호password' psql", "비밀번호password"),
        "with accents": ('api_secret = "ÀÉ我的密码是ñü9é"', "ÀÉ我的密码是ñü9é"),
        "letters around one number": ("access_token: qzkfpWjxnv8mrtl", "qzkfpWjxnv8mrtl"),
        "words around one number": ("client_secret: Falcon32Rider", "Falcon32Rider"),
        "of a cluster": (f"  key-data: {BODY[:32]}", BODY[:32]),
        "image": (f"ENV DB_PASSWORD {WORD}", WORD),
        "Windows, kept": (f"setx API_KEY {HEX[:32]}", HEX[:32]),
        "Amazon's tool": (f"aws configure set aws_secret_access_key {BODY[:40]}", BODY[:40]),
        "bearer in a list": (f"bearer: {BODY[:30]}", BODY[:30]),
        "short name": (f"DBPASS={WORD}", WORD),
        "capitals": ("DB_PASSWORD=SUPERSECRET", "SUPERSECRET"),
        "cookie of curl": (f"curl -b 'session={BODY[:20]}' https://api.example", BODY[:20]),
        "curl, joined": (f"curl -uada:{WORD} https://api.example", WORD),
        "sudo": (f"echo '{WORD}' | sudo -S make install", WORD),
        "chpasswd": (f"echo 'ada:{WORD}' | chpasswd", WORD),
        "piped login": (f"printf '%s' {WORD} | docker login -u ada --password-stdin", WORD),
        "mariadb": (f"mariadb -uroot -p{WORD}", WORD),
        "mongo": (f"mongo -u ada -p {WORD}", WORD),
        "az login": (f"az login -u ada -p {WORD}", WORD),
        "helm": (f"helm registry login -u ada -p {WORD} registry.example", WORD),
        "pair": (f"requests.get(url, auth=('ada', '{WORD}'))", WORD),
        "ngrok": (f"ngrok config add-authtoken {BODY[:40]}", BODY[:40]),
        "subscription": (f"Ocp-Apim-Subscription-Key: {HEX[:32]}", HEX[:32]),
        "pgpass of a pool": (f"db.example:6432:tides:ada:{WORD}", WORD),
        "address signed by Amazon": (f"https://b.example/k?X-Amz-Signature={HEX}", HEX),
        "address signed by Google": (f"https://b.example/k?X-Goog-Signature={HEX}", HEX),
        "signed header": (f"SignedHeaders=host, Signature={HEX}", HEX),
        "PuTTY": ("Private-Lines: 2\n" + BODY + "\n" + BODY[:40] + "\nx y", BODY),
    }
