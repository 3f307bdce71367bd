# shellcheck shell=bash
# Starts Debian's Tomcat under its own user, for tests and benchmarks. Sourced after lib.sh.
# shellcheck disable=SC2154 # lib.sh sets live_dir

user=4322

# is_taken PORT: a process listens on this port.
is_taken() {
	(exec 3<>"/dev/tcp/localhost/$1") 2>/dev/null
}

port=$((20000 + 2 * (RANDOM % 5000)))
while is_taken $port || is_taken $((port + 1)); do
	port=$((20000 + 2 * (RANDOM % 5000)))
done

# install_shop DIR: installs the web application, for JDK 11 and later; each servlet's path is its name.
install_shop() {
	local shop=$1 name

	"${as_user[@]}" mkdir -p "$shop/classes"
	javac --release 11 -cp /usr/share/tomcat10/lib/servlet-api.jar -d "$shop/classes" \
		"$live_dir"/apps/webapp/*.java
	{
		echo '<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="5.0">'
		for name in Carts Visits; do
			echo "<servlet><servlet-name>${name,}</servlet-name>"
			echo "<servlet-class>$name</servlet-class></servlet>"
			echo "<servlet-mapping><servlet-name>${name,}</servlet-name>"
			echo "<url-pattern>/${name,}</url-pattern></servlet-mapping>"
		done
		echo '</web-app>'
	} >"$shop/web.xml"
}

served() {
	curl -s -o /dev/null --max-time 30 "http://localhost:$port/"
}

# start_tomcat: starts Tomcat, with a leaking shop if javac is installed, and with Tomcat's examples
# if they are installed. $tomcat_flags are further flags of the JVM. Sets `shop`, the application's
# directory, and the variables that spawn sets.
start_tomcat() {
	mkdir "$W/home"
	chown $user:$user "$W/home"
	as_user=(setpriv "--reuid=$user" "--regid=$user" --clear-groups env -C "$W/home"
		"HOME=$W/home")
	"${as_user[@]}" tomcat10-instance-create -p $port -c $((port + 1)) -w SHUTDOWN tc >/dev/null
	if [ -d /usr/share/tomcat10-examples/examples ]; then
		"${as_user[@]}" ln -s /usr/share/tomcat10-examples/examples tc/webapps/
	fi
	shop=$W/home/tc/webapps/shop/WEB-INF
	if command -v javac >/dev/null; then
		install_shop "$shop"
	fi
	spawn "${as_user[@]}" "CATALINA_BASE=$W/home/tc" CATALINA_HOME=/usr/share/tomcat10 \
		"JAVA_OPTS=-Xmx128m ${tomcat_flags:-}" /usr/share/tomcat10/bin/catalina.sh run
	check "Tomcat: it serves" poll 180 served
}
