package shop

sealed class Item(val name: String, val price: Long) {
    class Book(name: String, price: Long, val pages: Int) : Item(name, price)
    class Toy(name: String, price: Long = 100, val age: Int = 3) : Item(name, price)
}

data class Line(val item: Item, val count: Int)

inline fun <T, R : Comparable<R>> List<T>.top(n: Int, crossinline by: (T) -> R): List<T> =
    sortedByDescending { by(it) }.take(n)

suspend fun stepped(x: Int): Int = if (x > 1) stepped(x - 1) + x else 1

class Cart(private val lines: MutableList<Line> = mutableListOf()) : Iterable<Line> by lines {
    val total by lazy { lines.map { it.item.price * it.count }.sum() }
    operator fun plusAssign(line: Line) { lines += line }
    fun describe() = lines.groupBy { it.item.javaClass.simpleName }
        .mapValues { (_, l) -> l.sumBy { it.count } }
        .toSortedMap()
        .entries.joinToString { "${it.key}=${it.value}" }
}

fun kind(item: Any?): String = when (item) {
    is Item.Book -> if (item.pages > 500) "tome" else "book"
    is Item.Toy -> "toy ${item.age}"
    null -> "nothing"
    else -> throw IllegalArgumentException("$item")
}

fun main() {
    val cart = Cart()
    cart += Line(Item.Book("Iliad", 1200, 600), 1)
    cart += Line(Item.Toy("Top"), 3)
    println(cart.total)
    println(cart.describe())
    println(cart.toList().top(1) { it.item.price }.map { kind(it.item) })
}
